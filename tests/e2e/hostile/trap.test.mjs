import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

/** The ways to lose the instance at the next cancel, as source for the page. Each happens inside the instance. @type {Record<string, string>} */
const ends = {
  'panics, asked for a host that it never had': 'host.shell.number = 1e6',
  'exhausts the stack': `
    const { cancel } = host.shell.handle;
    host.shell.handle.cancel = (...given) => {
      let broken;
      // The deepest call that still enters the instance has no stack left there.
      const deeper = () => {
        try { deeper(); } catch {
          if (broken) throw broken;
          try { cancel(...given); } catch (error) {
            if (error.stack.includes('wasm-function')) broken = error;
            throw error;
          }
        }
      };
      deeper();
    }`,
  'is left in the middle by an error of what it calls': `
    host.shell.cancelled = () => { throw new Error('not expected'); }`,
};

for (const [what, source] of Object.entries(ends)) {
  test(`when the instance ${what}, every call on every transport settles with INTERNAL_ERROR`, { timeout: 30_000 }, async () => {
    const seen = await lab.run(
      async ({ newHost, inPage, connect, rawPort, frame, agents, join, turn, rejection, INITIALIZE }, source, urls) => {
        console.error = () => {};
        const host = await newHost();
        host.acceptMessages();
        const { contentWindow } = await frame('/lab/');
        while (!contentWindow.lab) await turn();
        await join(host, urls.app);
        const callers = {
          page: await inPage(host),
          port: await connect(host),
          raw: await rawPort(host),
          window: await contentWindow.lab.agents.connectWindow(window, { origin: location.origin }),
          socket: await agents.connectWebSocket(urls.agent),
        };
        /** @type {any[]} */
        const signals = [];
        host.register('watched', {}, (/** @type {any} */ _, /** @type {any} */ { signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        });
        const all = Object.values(callers);
        const calls = all.map((it) => it.call('watched', {}, { callId: 'held' }));
        const queued = all.map((it) => it.call('test.single', {}, { callId: 'single' }));
        await Promise.all(all.map((it) => it.call('test.echo')));
        await new /** @type {any} */ ((async () => {}).constructor)('host', source)(host);
        // The next call finds the instance lost.
        callers.page.cancel('nothing');
        const inside = String(host.shell.guard.trap?.stack).includes('wasm-function');
        const code = (/** @type {any} */ it) => it.error?.code;
        const lost = (await Promise.all([...calls, ...queued])).map(code);
        const later = [await callers.page.call('test.echo'), await callers.page.cancel('held'), await callers.port.call('test.echo'),
          await callers.raw.cancel('held'), await callers.socket.call('test.echo'), await rejection(callers.page.initialize(INITIALIZE))];
        const fresh = await (await rawPort(host, false)).initialize();
        host.close();
        return { inside, lost, aborted: signals.map((it) => it.aborted), later: later.map((it) => it.code ?? code(it)), fresh: code(fresh) };
      },
      source,
      lab.urls,
    );
    assert.deepEqual(seen, {
      inside: true,
      lost: Array(10).fill('INTERNAL_ERROR'),
      aborted: Array(5).fill(true),
      later: Array(6).fill('INTERNAL_ERROR'),
      fresh: 'INTERNAL_ERROR',
    });
  });
}
