import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach } from 'caphost/automation';
import { useDemo } from '../support/demo.mjs';

const demo = useDemo();

const capabilities = ['ai.summarize', 'convert.markdownToHtml', 'export.archive', 'export.pdf', 'image.process', 'stop.never'];

test('the page is served at / with its manifest linked in the head, under a content security policy', async () => {
  const response = await fetch(`${demo.gateway.url}/`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/, 'no inline scripts, no eval');
  const html = await response.text();
  const head = html.slice(0, html.indexOf('</head>'));
  assert.match(head, /<link rel="abp-manifest" href="\/abp\.json"\s*\/?>/);
});

test('/abp.json lists the capabilities that the page registers', async () => {
  const response = await fetch(`${demo.gateway.url}/abp.json`);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  const manifest = await response.json();
  const registered = await demo.page.evaluate(async () => {
    const module = await import(/** @type {any} */ ('/caphost_demo.js'));
    // Uses the page's own host over window.abp, and a second host that is made in the same way and has
    // a manifest().
    const listed = await /** @type {any} */ (window).abp.listCapabilities();
    const host = module.createDemo();
    const manifest = host.manifest();
    host.close();
    return { app: /** @type {any} */ (window).abp.app, manifest, listed };
  });
  assert.deepEqual(manifest, registered.manifest);
  assert.deepEqual(manifest.app, registered.app);
  assert.deepEqual(manifest.capabilities.map((/** @type {any} */ it) => it.name), capabilities);
  for (const capability of manifest.capabilities) {
    const listed = registered.listed.find((/** @type {any} */ it) => it.name === capability.name);
    const { name, description, annotations, inputSchema, outputSchema } = listed;
    assert.deepEqual(capability, { name, description, annotations, inputSchema, outputSchema });
    assert.deepEqual(annotations, { readOnlyHint: true }, capability.name);
    assert.ok(capability.description, capability.name);
    assert.equal(capability.inputSchema.type, 'object', capability.name);
    assert.equal(capability.outputSchema.type, 'object', capability.name);
  }
});

test('the package is served under /caphost/ and works there', async () => {
  const exported = await demo.page.evaluate(async () => {
    const host = await import(/** @type {any} */ ('/caphost/index.js'));
    const agent = await import(/** @type {any} */ ('/caphost/agent.js'));
    const created = await host.createHost({ app: { id: 'a', name: 'A', version: '1' } });
    created.register('twice', {}, (/** @type {any} */ { number }) => number * 2);
    const { port1, port2 } = new MessageChannel();
    created.acceptPort(port1);
    const connected = await agent.connectPort(port2);
    const { success, data } = await connected.call('twice', { number: 21 });
    created.close();
    return { success, data };
  });
  assert.deepEqual(exported, { success: true, data: 42 });
});

test('an agent in Node reaches the page as caphost-demo, and finds its capabilities', async () => {
  const agent = await demo.connect('first');
  assert.equal(agent.app.id, 'caphost-demo');
  assert.deepEqual(agent.capabilities.map(({ name }) => name), capabilities);
  await agent.shutdown();
});

test('nothing on the page was refused by its policy, failed to load or threw', async () => {
  const page = await demo.open();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.close();
  assert.deepEqual(demo.complaints, []);
});

test('an agent at the gateway lists the capabilities as the page does, and so does one that is attached', async (t) => {
  const listed = await demo.page.evaluate(() => /** @type {any} */ (window).abp.listCapabilities());
  const known = (/** @type {any[]} */ list) => list.map(({ name, description, inputSchema, outputSchema, available }) => ({ name, description, inputSchema, outputSchema, available }));
  assert.deepEqual(await demo.agent.listCapabilities(), listed);
  assert.deepEqual(known(listed).map(({ name }) => name), capabilities);
  const page = await demo.open();
  t.after(() => page.close());
  const attached = await attach(page);
  assert.deepEqual(await attached.listCapabilities(), listed);
  assert.equal(Object((await attached.describeCapability('export.pdf'))?.inputSchema).type, 'object');
  await attached.shutdown();
});
