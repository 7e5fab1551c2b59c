import { launchPlaywright, launchPuppeteer } from '../support/browsers.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** The flag that turns on tools in Chromium. */
const args = ['--enable-features=WebMCP'];

export const clients = [
  { name: 'Puppeteer', launch: () => launchPuppeteer({ args }) },
  { name: 'Playwright', launch: () => launchPlaywright({ args }) },
];

/** A page with a host whose capabilities are also tools of the browser. */
const hosted = `<!doctype html><title>A host with tools</title><script type="module">
  import { createHost } from '/caphost/index.js';
  const log = [];
  const host = await createHost({ app: { id: 'tools', name: 'Tools', version: '1.0.0' } });
  const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  host.register('math.double', { description: 'Doubles a number', annotations: { readOnlyHint: true }, inputSchema: number }, async ({ n }) => ({ doubled: 2 * n }));
  host.register('say', {}, async ({ text }) => text);
  host.register('break', {}, async () => { throw Object.assign(new Error('The printer is on fire'), { code: 'PRECONDITION_FAILED' }); });
  host.register('ünfit name', {}, async () => 1);
  host.register('hold', {}, (_, { signal, callId }) => new Promise((_, reject) => {
    log.push('started ' + callId);
    signal.addEventListener('abort', () => { log.push('stopped ' + callId); reject(signal.reason); });
  }));
  host.observe((event) => { if (event.type === 'call') log.push(event.capability + ' ' + event.state); });
  host.expose(window, { webmcp: true });
  Object.assign(window, { host, log });
</script>`;

/** A page whose only interface is the browser's tools. */
const native = `<!doctype html><title>Tools alone</title><script>
  window.log = [];
  const tool = (name, execute) => document.modelContext.registerTool({ name, description: name, inputSchema: { type: 'object' }, execute });
  tool('echo', async (input) => input);
  tool('mcp', async () => ({ content: [{ type: 'text', text: 'as text' }] }));
  tool('broken', async () => { throw new TypeError('The disk is full'); });
  tool('ends', async ({ stop }) => ({ content: [], isError: true, _meta: { 'caphost/error': { code: 'CANCELLED', message: 'Enough' }, 'caphost/stop': stop } }));
  const schemas = { typed: { type: 'object', required: ['n'] }, odd: { type: 'object', properties: { n: { type: 'nothing of the kind' } } } };
  for (const [name, inputSchema] of Object.entries(schemas)) document.modelContext.registerTool({ name, description: name, inputSchema, execute: async (input) => input });
  tool('polite', async () => ({ content: [{ type: 'text', text: 'Not today' }], isError: true }));
  tool(new URLSearchParams(location.search).get('hold') ?? 'hold', (_, { signal }) => new Promise((_, reject) => {
    log.push('started');
    signal.addEventListener('abort', () => { log.push('stopped'); reject(signal.reason); });
  }));
</script>`;

export const serveTools = () => serveFiles({ pages: { '/hosted': hosted, '/native': native, '/empty': '<!doctype html><title>empty</title>' } });

/**
 * Waits until the page has logged something.
 *
 * @param {any} page
 * @param {string} entry the beginning of the line to wait for
 */
export const logged = (page, entry) =>
  page.evaluate(
    (/** @type {string} */ wanted) =>
      new Promise((resolve) => {
        const look = () => {
          const found = /** @type {any} */ (window).log?.find((/** @type {string} */ line) => line.startsWith(wanted));
          if (found === undefined) setTimeout(look, 5);
          else resolve(found);
        };
        look();
      }),
    entry,
  );
