import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clients, logged, serveTools } from './tools.mjs';

/** Runs in the page: a client of the browser's own tools. */
const useTool = async (/** @type {{ name: string, input: object, abort?: boolean }} */ { name, input, abort }) => {
  const context = /** @type {any} */ (document).modelContext;
  const tool = (await context.getTools()).find((/** @type {any} */ it) => it.name === name);
  const stop = new AbortController();
  const answer = context.executeTool(tool, input, { signal: stop.signal });
  if (abort) {
    answer.catch(() => {});
    while (!(/** @type {any} */ (window).log.some((/** @type {string} */ line) => line.startsWith('started')))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stop.abort('enough');
  }
  return answer.then(JSON.parse, (/** @type {any} */ error) => `rejected: ${error}`);
};

const toolNames = async () => {
  const tools = await /** @type {any} */ (document).modelContext.getTools();
  return tools.map((/** @type {any} */ it) => it.name).sort();
};

describe("capabilities as the browser's tools", () => {
  /** @type {Awaited<ReturnType<typeof clients[0]['launch']>>} */
  let browser;
  /** @type {import('../support/static-server.mjs').StaticServer} */
  let server;
  /** @type {any} */
  let page;
  before(async () => {
    [browser, server] = await Promise.all([clients[0]?.launch() ?? Promise.reject(new Error('no client')), serveTools()]);
    page = await browser.newPage();
  });
  after(async () => {
    await browser.close();
    await server.close();
  });
  const open = async () => {
    await page.goto(server.url('/hosted'));
    await page.evaluate(async () => {
      const { modelContext } = /** @type {any} */ (document);
      while ((await modelContext.getTools()).length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    });
  };

  test('each capability is a tool, under a name that the browser accepts', async () => {
    await open();
    assert.deepEqual(await page.evaluate(toolNames), ['_nfit_name', 'break', 'hold', 'math.double', 'say']);
    assert.equal(await page.evaluate(() => typeof (/** @type {any} */ (window).abp.initialize)), 'function');
    const hints = await page.evaluate(async () => {
      const tools = await /** @type {any} */ (document).modelContext.getTools();
      return Object.fromEntries(tools.map((/** @type {any} */ it) => [it.name, it.annotations?.readOnlyHint]));
    });
    assert.deepEqual([hints['math.double'], hints.say ?? false], [true, false]);
  });

  test('a tool answers with data, and checks its parameters', async () => {
    await open();
    const doubled = await page.evaluate(useTool, { name: 'math.double', input: { n: 21 } });
    assert.deepEqual(doubled.structuredContent, { doubled: 42 });
    assert.deepEqual(doubled.content, [{ type: 'text', text: '{"doubled":42}' }]);
    const said = await page.evaluate(useTool, { name: 'say', input: { text: 'hello' } });
    assert.deepEqual(said, { content: [{ type: 'text', text: 'hello' }] });
    const refused = await page.evaluate(useTool, { name: 'math.double', input: {} });
    assert.equal(refused.isError, true);
    assert.equal(refused._meta['caphost/error'].code, 'MISSING_PARAM');
  });

  test('an error keeps its code and its message', async () => {
    await open();
    const broken = await page.evaluate(useTool, { name: 'break', input: {} });
    assert.equal(broken.isError, true);
    assert.deepEqual(broken.content, [{ type: 'text', text: 'PRECONDITION_FAILED: The printer is on fire' }]);
  });

  test('an abort stops the handler, and shows on the timeline under its callId', async () => {
    await open();
    assert.match(await page.evaluate(useTool, { name: 'hold', input: {}, abort: true }), /^rejected: /);
    const stopped = await logged(page, 'stopped');
    assert.match(stopped, /^stopped [0-9a-f-]{36}$/);
    await logged(page, 'hold cancelled');
    const stats = await page.evaluate(() => /** @type {any} */ (window).host.stats());
    assert.equal(stats.inFlight, 0);
  });

  test('tools follow the registered capabilities, and end with the host', async () => {
    await open();
    await page.evaluate(() => {
      const { host } = /** @type {any} */ (window);
      host.unregister('say');
      host.register('later', {}, async () => ({ late: true }));
      host.unregister('math.double');
      host.register('math.double', { description: 'Another' }, async () => ({ other: true }));
    });
    assert.deepEqual(await page.evaluate(toolNames), ['_nfit_name', 'break', 'hold', 'later', 'math.double']);
    const other = await page.evaluate(useTool, { name: 'math.double', input: {} });
    assert.deepEqual(other.structuredContent, { other: true });
    await page.evaluate(() => /** @type {any} */ (window).host.close());
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)));
    assert.deepEqual(await page.evaluate(toolNames), []);
  });

  test('two names that would become the same tool name are no tools', async () => {
    await open();
    await page.evaluate(() => /** @type {any} */ (window).host.register('ünfit_name', {}, async () => 1));
    const names = await page.evaluate(toolNames);
    assert.ok(!names.includes('_nfit_name'), names.join());
  });

  test('a call that the app has cancelled has its grade, the step that stopped it, and the time', async () => {
    await page.goto(server.url('/empty'));
    const meta = await page.evaluate(async () => {
      const { createHost } = await import(/** @type {any} */ ('/caphost/index.js'));
      const tools = new Map();
      const registerTool = (/** @type {any} */ tool) => void tools.set(tool.name, tool);
      const host = await createHost({ app: { id: 'old', name: 'Old', version: '1.0.0' } });
      host.registerWorker('part', undefined, '/workers/parts.js', { pool: 1, warm: false });
      host.expose({ navigator: { modelContext: { registerTool } } }, { webmcp: true });
      while (!tools.has('part')) await new Promise((resolve) => setTimeout(resolve, 5));
      // The worker is started from here on.
      await tools.get('part').execute({ part: 'where' });
      /** @type {any} */
      let hold;
      host.observe((/** @type {any} */ it) => it.state === 'running' && (hold = it));
      const result = tools.get('part').execute({ part: 'hold' });
      while (!hold) await new Promise((resolve) => setTimeout(resolve, 5));
      await host.cancelCall(hold.sessionId, hold.callId);
      const { _meta } = await result;
      host.close();
      return _meta;
    });
    const { 'caphost/error': error, 'caphost/took': took, ...rest } = meta;
    assert.equal(error.code, 'CANCELLED');
    assert.ok(took >= 0, `${took}`);
    assert.deepEqual(rest, { 'caphost/stop': 'returned', 'caphost/step': 'signal' });
  });

  test('an older browser gets the tools at navigator.modelContext, with or without handles', async () => {
    for (const shape of ['handles', 'names', 'all at once']) {
      await page.goto(server.url('/empty'));
      const seen = await page.evaluate(async (/** @type {string} */ given) => {
        const { createHost } = await import(/** @type {any} */ ('/caphost/index.js'));
        const tools = new Map();
        const shapes = {
          handles: { registerTool: (/** @type {any} */ tool) => (tools.set(tool.name, tool), { unregister: () => tools.delete(tool.name) }) },
          names: { registerTool: (/** @type {any} */ tool) => void tools.set(tool.name, tool), unregisterTool: (/** @type {string} */ name) => tools.delete(name) },
          'all at once': {
            provideContext: (/** @type {any} */ { tools: all }) => {
              tools.clear();
              for (const tool of all) tools.set(tool.name, tool);
            },
          },
        };
        const target = { navigator: { modelContext: shapes[/** @type {keyof typeof shapes} */ (given)] } };
        const host = await createHost({ app: { id: 'old', name: 'Old', version: '1.0.0' } });
        host.register('one', {}, async () => ({ one: 1 }));
        host.expose(target, { webmcp: true });
        while (!tools.has('one')) await new Promise((resolve) => setTimeout(resolve, 5));
        const { structuredContent } = await tools.get('one').execute({});
        host.unregister('one');
        // The tools follow at the end of the turn.
        await undefined;
        const left = [...tools.keys()];
        host.close();
        return { structuredContent, left };
      }, shape);
      assert.deepEqual(seen, { structuredContent: { one: 1 }, left: [] }, shape);
    }
  });
});
