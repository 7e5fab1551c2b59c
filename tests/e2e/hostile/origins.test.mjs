import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inLab, useLab } from '../support/lab.mjs';
import { serveFiles } from '../support/static-server.mjs';

const lab = useLab();
/** A page that reports every message it receives to its parent. */
const next = `<script>onmessage = ({ data }) => parent.postMessage({ overheard: data }, '*'); parent.postMessage('next', '*')</script>`;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let elsewhere;
before(async () => {
  elsewhere = await serveFiles({ pages: { '/next/': next } });
});
after(() => elsewhere?.close());

/** @param {string} [origins] the origins that the host in the frame allows; by default its own */
const hostUrl = (origins) => elsewhere.url(`/host/${origins === undefined ? '' : `?origins=${origins}`}`);

/**
 * A page with a host in a frame of another origin.
 *
 * @param {string | undefined} origins
 * @param {(page: import('puppeteer-core').Page, host: import('puppeteer-core').Frame) => Promise<void>} work
 */
async function withFrame(origins, work) {
  const page = await lab.page();
  try {
    await inLab(page, async ({ frame }, src) => void (await frame(src, { name: 'host' })), hostUrl(origins));
    const host = page.frames().find((it) => it.url().startsWith(elsewhere.origin));
    assert.ok(host);
    await host.waitForSelector('html[data-ready]');
    await work(page, host);
  } finally {
    await page.close();
  }
}

for (const [who, origins] of /** @type {const} */ ([['only its own origin', undefined], ['another origin only', 'https://other.example']])) {
  test(`a host that allows ${who} is silent to all others, and they learn nothing`, () =>
    withFrame(origins, async (page, host) => {
      const last = await host.evaluateHandle(() => ({
        heard: new Promise((resolve) => addEventListener('message', ({ data }) => data === 'last' && resolve(0))),
      }));
      const heard = await inLab(page, async ({ rawWindow, turn, INITIALIZE }, origin) => {
        const target = window.frames[0];
        const raw = rawWindow(/** @type {Window} */ (target), origin);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => raw.receive(data);
        const say = (/** @type {string} */ type, /** @type {any} */ payload) => raw.post({ type, id: type, timestamp: 0, payload });
        say('initialize', INITIALIZE);
        say('capabilities/call', { capability: 'test.echo', options: { callId: 'x' } });
        say('capabilities/cancel', { callId: 'x' });
        say('capabilities/frobnicate', {});
        raw.post({ type: 'initialize', id: 'port', timestamp: 0, payload: INITIALIZE }, [port2]);
        raw.post('last');
        await turn();
        return raw;
      }, elsewhere.origin);
      const stats = await host.evaluate(async ({ heard }) => {
        await heard;
        return /** @type {any} */ (window).host.stats();
      }, last);
      assert.deepEqual([stats.sessions, stats.calls], [0, 0]);
      assert.deepEqual(heard.heard, []);
    }));
}

test('origins are compared whole: neither prefixes nor wildcards count', () =>
  withFrame(undefined, async (page, host) => {
    const { origin } = lab.server;
    const near = [origin.slice(0, -1), origin.replace('http:', 'https:'), origin.replace('127.0.0.1', 'localhost'), `${origin}.example`.replace(/:\d+/, ''), 'null'];
    const refused = await host.evaluate(async (near) => {
      const it = /** @type {any} */ (window);
      it.host.acceptMessages({ allowedOrigins: near, replace: true });
      return ['x', {}, ...[7, null, '*', '', 'x', 'localhost:5302', '/', 'http://*.example'].map((it) => [it])].map((allowedOrigins) => {
        try {
          it.host.acceptMessages({ allowedOrigins, replace: true });
          return 'accepted';
        } catch (error) {
          const { code, message } = /** @type {any} */ (error);
          return message.startsWith("allowedOrigins must be an array such as ['https://app.example']: ") && code;
        }
      });
    }, near);
    assert.deepEqual(refused, Array(10).fill('INVALID_PARAMS'));
    const connected = await inLab(page, ({ agents, rejection }, origin) =>
      rejection(agents.connectWindow(window.frames[0], { origin, connectTimeout: 300 })), elsewhere.origin);
    assert.equal(connected.code, 'TIMEOUT');
    // An origin counts in the browser's form, however the caller has written it.
    await host.evaluate((allowed) => /** @type {any} */ (window).host.acceptMessages({ allowedOrigins: [allowed], replace: true }), `${origin.toUpperCase()}/some/path`);
    const agent = await inLab(page, async ({ agents }, origin) => (await agents.connectWindow(window.frames[0], { origin })).app.id, elsewhere.origin);
    assert.equal(agent, 'test-host');
  }));

test('each refused origin is reported once in the console of the app', () =>
  withFrame('https://other.example', async (page, host) => {
    /** @type {string[]} */
    const said = [];
    page.on('console', (message) => void (message.text().startsWith('caphost:') && said.push(message.text())));
    const asked = await inLab(page, ({ agents, rejection }, origin) =>
      rejection(agents.connectWindow(window.frames[0], { origin, connectTimeout: 500 })), elsewhere.origin);
    assert.equal(asked.code, 'TIMEOUT');
    assert.equal(asked.message, `No app answered within 500 ms at ${elsewhere.origin}: is ${lab.server.origin} in its allowedOrigins?`);
    await host.evaluate('0');
    assert.deepEqual(said, [`caphost: ignored a message from ${lab.server.origin}: it is not in allowedOrigins: https://other.example`]);
  }));

test('connecting to a frame of another origin without naming it fails with this reason, and ends', () =>
  withFrame('https://other.example', async (page) => {
    const said = { refused: 0 };
    page.on('console', (message) => void (message.text().includes('target origin') && (said.refused += 1)));
    const asked = await inLab(page, ({ agents, rejection }) => rejection(agents.connectWindow(window.frames[0], { connectTimeout: 3000 })));
    assert.equal(asked.code, 'TIMEOUT');
    assert.equal(asked.message, `No app answered within 3000 ms at ${lab.server.origin}: no origin was given, so this page's own was used; pass { origin } for an app of another`);
    assert.ok(said.refused > 0 && said.refused <= 12, `${said.refused} warnings`);
  }));

test('a third window cannot use the session of another, over a port or over window messages', async () => {
  const page = await lab.page();
  try {
    const seen = await inLab(page, async ({ newHost, frame, turn }) => {
      const host = await newHost();
      host.acceptMessages();
      const windows = [];
      for (const _ of [1, 2, 3]) {
        const { contentWindow } = await frame('/lab/');
        while (!contentWindow.lab) await turn();
        windows.push(contentWindow);
      }
      const [ours, plain, third] = windows;
      const agent = await ours.lab.agents.connectWindow(window, { origin: location.origin });
      const raw = plain.lab.rawWindow(window, location.origin);
      await raw.initialize();
      const held = [agent.call('test.hold', {}, { callId: 'held' }), raw.call('test.hold', {}, { callId: 'held' })];
      await Promise.all([agent.call('test.echo'), raw.call('test.echo')]);
      const thief = third.lab.rawWindow(window, location.origin);
      const without = [(await thief.cancel('held')).error.code, (await thief.call('test.echo')).error.code];
      await thief.initialize();
      const within = await thief.cancel('held');
      await thief.request('shutdown', {});
      // A forged source or origin does not count either: the browser reports the sender.
      thief.post({ type: 'capabilities/cancel', id: 'x', timestamp: 0, payload: { callId: 'held' }, source: 'plain', origin: 'x' });
      await turn();
      const { inFlight, sessions } = host.stats();
      const answers = [await agent.cancel('held'), await raw.cancel('held')];
      return { without, within, inFlight, sessions, answers, held: (await Promise.all(held)).map((it) => it.cancelled), heard: thief.heard.length };
    });
    assert.deepEqual(seen, {
      without: ['NOT_INITIALIZED', 'NOT_INITIALIZED'],
      within: { callId: 'held', cancelled: false, reason: 'Operation not found' },
      inFlight: 2,
      sessions: 2,
      answers: Array(2).fill({ callId: 'held', cancelled: true, metadata: { stop: 'returned' } }),
      held: [true, true],
      heard: 6,
    });
  } finally {
    await page.close();
  }
});

test('after the negotiation, no listener of either window receives more messages', async () => {
  const seen = await lab.run(async ({ frame, turn, agents }) => {
    const { contentWindow } = await frame('/lab/');
    while (!contentWindow.lab) await turn();
    const host = await contentWindow.lab.newHost();
    /** @type {string[]} */
    const overheard = [];
    for (const listener of [window, contentWindow]) {
      listener.addEventListener('message', (/** @type {MessageEvent} */ { data }) => overheard.push(data.type));
    }
    host.acceptMessages();
    const agent = await agents.connectWindow(contentWindow, { origin: location.origin });
    const opening = overheard.splice(0);
    const held = agent.call('test.hold', { secret: 1 }, { callId: 'held', onProgress() {} });
    await agent.call('test.echo', { secret: 2 });
    host.notify('secret');
    await agent.cancel('held');
    await held;
    await agent.shutdown();
    await turn();
    // A host announces itself to the clients of MCP-B.
    return { opening: [...new Set(opening)].filter((type) => type !== 'mcp'), overheard };
  });
  assert.deepEqual(seen, { opening: ['initialize'], overheard: [] });
});

test('a sandboxed frame, whose origin is null, is heard only when null is allowed', async () => {
  const seen = await lab.run(async ({ newHost, frame }) => {
    const host = await newHost();
    const script = `
      addEventListener('message', ({ data }) => parent.postMessage({ relayed: data }, '*'));
      const say = (id) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => parent.postMessage({ relayed: data }, '*');
        const ports = id.includes('port') ? [port2] : [];
        parent.postMessage({ type: 'initialize', id, timestamp: 0, payload: { agent: { name: 'box', version: '1' }, protocolVersion: '0.1' } }, '*', ports);
      };
      addEventListener('message', ({ data }) => data.say && say(data.say));
      parent.postMessage('loaded', '*')`;
    /** @type {any[]} */
    const relayed = [];
    const loaded = new Promise((resolve) => {
      addEventListener('message', ({ data }) => {
        if (data === 'loaded') resolve(undefined);
        else if (data.relayed) relayed.push(data.relayed);
      });
    });
    const said = (/** @type {(it: any) => boolean} */ fits) => new Promise((resolve) => {
      const look = () => relayed.some(fits) && resolve(undefined);
      addEventListener('message', look);
      look();
    });
    const element = await frame(`data:text/html,${encodeURIComponent(`<script>${script}</script>`)}`, { sandbox: 'allow-scripts' });
    await loaded;
    const box = element.contentWindow;
    host.acceptMessages();
    host.acceptMessages({ allowedOrigins: ['https://other.example', location.origin], replace: true });
    box.postMessage({ say: 'first' }, '*');
    box.postMessage({ say: 'nothing after this' }, '*');
    await said((it) => it.say === 'nothing after this');
    box.postMessage('echo', '*');
    await said((it) => it === 'echo');
    const before = host.stats().sessions;
    host.acceptMessages({ allowedOrigins: ['null'], replace: true });
    box.postMessage({ say: 'second' }, '*');
    box.postMessage({ say: 'with a port' }, '*');
    await said((it) => it.id === 'with a port');
    return { before, after: host.stats().sessions, answered: relayed.filter((it) => it.type).map((it) => [it.id, it.type]) };
  });
  // If the answer went to the window, the document that is in the window by then would get it.
  assert.deepEqual(seen, { before: 0, after: 1, answered: [['with a port', 'initialize-result']] });
});

test('an app whose own origin is opaque may allow such origins', async () => {
  const said = await lab.run(async ({ frame }) => {
    const heard = new Promise((resolve) => addEventListener('message', ({ data }) => data.said && resolve(data.said)));
    const script = `
      const { createHost } = await import('/caphost/index.js');
      const host = await createHost({ app: { id: 'box', name: 'Box', version: '1' } });
      try {
        host.acceptMessages({ allowedOrigins: [location.origin] });
        parent.postMessage({ said: location.origin }, '*');
      } catch ({ message }) {
        parent.postMessage({ said: message }, '*');
      }`;
    await frame('about:blank', { srcdoc: `<script type="module">${script}</script>` });
    return heard;
  });
  assert.equal(said, 'null');
});

/** Opens a session and calls, over the window or over a port, and then navigates to another document. */
const leaver = (/** @type {boolean} */ withPort, /** @type {string} */ next) => `
  const { port1, port2 } = new MessageChannel();
  const say = (type, payload, ports = []) => {
    const message = { type, id: type, timestamp: 0, payload };
    if (${withPort} && !ports.length) port1.postMessage(message);
    else parent.postMessage(message, '*', ports);
  };
  const hear = ({ data }) => {
    if (data === 'leave') location.href = ${JSON.stringify(next)};
    else if (data.type === 'initialize-result') say('capabilities/call', { capability: 'slow.secret', callId: 'held' });
  };
  addEventListener('message', hear);
  port1.onmessage = hear;
  say('initialize', { agent: { name: 'leaver', version: '1' }, protocolVersion: '0.1' }, ${withPort} ? [port2] : []);`;
const asUrl = (/** @type {string} */ text) => `data:text/html,${encodeURIComponent(text)}`;

for (const [from, withPort] of /** @type {const} */ ([['an opaque origin', false], ['an opaque origin', true], ['an allowed origin', false], ['an allowed origin', true]])) {
  test(`a frame of ${from} that navigates during a call: the next document does not get the answer for the previous one${withPort ? ', over a port' : ''}`, async () => {
    const opaque = from === 'an opaque origin';
    // The next document has the same origin if the origin is opaque, and another origin otherwise.
    const script = `<script>${leaver(withPort, opaque ? asUrl(next) : `${elsewhere.origin}/next/`)}</script>`;
    const server = await serveFiles({ pages: { '/leaver/': script } });
    try {
      const seen = await lab.run(async ({ newHost, frame, running }, src, opaque) => {
        const host = await newHost();
        /** @type {() => void} */
        let finish = () => {};
        const called = Promise.race([running(host, 'held'), new Promise((resolve) => setTimeout(resolve, 1000))]);
        host.register('slow.secret', {}, () => new Promise((resolve) => (finish = () => resolve('secret'))));
        host.acceptMessages({ allowedOrigins: [opaque ? 'null' : new URL(src).origin] });
        /** @type {any[]} */
        const overheard = [];
        const arrived = new Promise((resolve) => addEventListener('message', ({ data }) => {
          if (data === 'next') resolve(undefined);
          else if (data.overheard) overheard.push(data.overheard);
        }));
        const element = await frame(src, opaque ? { sandbox: 'allow-scripts' } : {});
        await called;
        const { calls } = host.stats();
        element.contentWindow.postMessage('leave', '*');
        await arrived;
        finish();
        host.notify('secret');
        element.contentWindow.postMessage('last', '*');
        await new Promise((resolve) => addEventListener('message', ({ data }) => data.overheard === 'last' && resolve(undefined)));
        return { calls, overheard };
      }, opaque ? asUrl(script) : server.url('/leaver/'), opaque);
      // An opaque origin does not identify a document, so no answer is posted to its window.
      assert.equal(seen.calls, opaque && !withPort ? 0 : 1);
      assert.deepEqual(seen.overheard, ['last']);
    } finally {
      await server.close();
    }
  });
}

test('a window is no port, because anybody can post to it', async () => {
  const seen = await lab.run(async ({ newHost, frame, agents, rejection }) => {
    const host = await newHost();
    const { contentWindow } = await frame('data:text/html,');
    const refusals = [];
    for (const it of [window, contentWindow]) {
      refusals.push((await rejection(Promise.resolve().then(() => host.acceptPort(it)))).code, (await rejection(agents.connectPort(it))).code);
    }
    return refusals;
  });
  assert.deepEqual(seen, Array(4).fill('INVALID_PARAMS'));
});

test('an agent does not continue with a host of an opaque origin in its window, whatever document follows there', async () => {
  const connected = await lab.run(async ({ frame, agents, rejection }) => {
    const script = `onmessage = ({ data: { type, id } }) => type === 'initialize' && parent.postMessage(
      { type: 'initialize-result', id, timestamp: 0, payload: { sessionId: 's', protocolVersion: '0.1', app: {}, capabilities: [], features: {} } }, '*')`;
    const { contentWindow } = await frame(`data:text/html,${encodeURIComponent(`<script>${script}</script>`)}`);
    return rejection(agents.connectWindow(contentWindow, { origin: '*', connectTimeout: 500 }));
  });
  assert.equal(connected.code, 'TIMEOUT');
});
