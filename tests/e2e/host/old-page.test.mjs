/** Pages whose old libraries have given every object more members before the package is loaded. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { launchFirefox, launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** The scripts of the libraries. @type {Record<string, string>} */
const LIBRARIES = {
  'values that for…in finds': 'Object.assign(Object.prototype, { extra: "text", list: [1], object: { a: 1 } });',
  'a polyfill of Object.prototype.watch': `Object.prototype.watch = function (name, handler) {
    let value = this[name];
    if (delete this[name]) Object.defineProperty(this, name, { get: () => value, set: (next) => (value = handler.call(this, name, value, next)), configurable: true, enumerable: true });
  }`,
  ...Object.fromEntries(
    ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'signal', 'once', 'timeout', 'transfer', 'targetOrigin'].map((name) => {
      // It inherits nothing, or the description of the property would have what it describes.
      const member = `Object.defineProperty(Object.prototype, '${name}', { __proto__: null, value: 7, enumerable: true, writable: true, configurable: true });`;
      return [`a member named ${name}`, member];
    }),
  ),
};

const STORY = `
  const tell = (seen) => document.documentElement.setAttribute('data-seen', seen);
  try {
    const { createHost } = await import('/caphost/index.js');
    const { connectPort } = await import('/caphost/agent.js');
    const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
    host.register('count', { inputSchema: { type: 'object', properties: { words: { type: 'array', items: { type: 'string' } } } } }, ({ words }) => words.length);
    host.register('wait', {}, (_, { signal }) => new Promise((_resolve, reject) => { signal.onabort = () => reject(signal.reason); }));
    host.expose();
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const agent = await connectPort(port2);
    const seen = [(await agent.call('count', { words: ['a', 'b'] })).data, (await agent.call('count', { words: [1] })).error?.code];
    const controller = new AbortController();
    const waiting = agent.call('wait', {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    seen.push((await waiting).cancelled);
    await window.abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
    seen.push((await window.abp.call('count', { words: ['a'] })).data);
    await agent.shutdown();
    tell(seen.join());
  } catch (error) {
    tell(String(error.stack ?? error));
  }`;

for (const [name, launch] of /** @type {[string, () => Promise<any>][]} */ ([['Chromium', launchPuppeteer], ['Firefox', launchFirefox]])) {
  describe(`in ${name}, calls are as usual in a page with`, () => {
    /** @type {any} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveFiles>>} */
    let server;
    before(async () => {
      const pages = Object.entries(LIBRARIES).map(([, script], at) => [`/old-${at}`, `<!doctype html><script>${script}</script><script type="module">${STORY}</script>`]);
      [browser, server] = await Promise.all([launch(), serveFiles({ pages: Object.fromEntries(pages) })]);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    for (const [at, library] of Object.keys(LIBRARIES).entries()) {
      test(library, { timeout: 60_000 }, async (t) => {
        if (!browser) return t.skip('no Firefox is installed');
        const page = await browser.newPage();
        t.after(() => page.close());
        await page.goto(server.url(`/old-${at}`));
        const shown = await page.waitForSelector('html[data-seen]');
        const seen = await shown.evaluate((/** @type {Element} */ html) => html.getAttribute('data-seen'));
        assert.equal(seen, '2,INVALID_TYPE,true,1');
      });
    }
  });
}
