/** @import { Announcer } from './announcer.js' */
import { element } from './dom.js';

/**
 * @param {string} appId
 * @returns {[title: string, hint: string, code: string][]}
 */
function snippets(appId) {
  const { origin, host, protocol } = location;
  const socket = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/abp?app=${appId}`;
  return [
    [
      'From an automation client',
      'Puppeteer or Playwright, over nothing but window.abp.',
      `await page.goto('${origin}/');
await page.waitForFunction(() => window.abp);
await page.evaluate(async () => {
  await abp.initialize({
    agent: { name: 'my agent', version: '1.0' },
    protocolVersion: '0.1',
    features: { notifications: false, progress: false, elicitation: false },
  });
  const call = abp.call('export.archive', { megabytes: 200 }, { callId: 'first' });
  const confirmation = await abp.cancel('first', 'changed my mind');
  return { confirmation, response: await call };
});`,
    ],
    [
      'Over WebSocket',
      'From Node or another page, through the gateway.',
      `import { connectWebSocket } from 'caphost/agent';

const agent = await connectWebSocket('${socket}', {
  agent: { name: 'my agent', version: '1.0' },
});
const abort = new AbortController();
const call = agent.call('export.archive', { megabytes: 200 }, { signal: abort.signal });
setTimeout(() => abort.abort('changed my mind'), 500);
console.log(await call); // { success: false, cancelled: true, metadata: { stop: 'dropped' } }`,
    ],
  ];
}

/**
 * @param {HTMLElement} place
 * @param {string} appId
 * @param {Announcer} announcer
 */
export function showSnippets(place, appId, announcer) {
  for (const [title, hint, code] of snippets(appId)) {
    const copy = element('button', { type: 'button', class: 'quiet', 'aria-label': `Copy: ${title}` }, 'Copy');
    copy.addEventListener('click', async () => {
      const done = await copyText(code);
      copy.textContent = done ? 'Copied' : 'Select it';
      announcer.say(done ? 'Copied' : 'The browser did not allow copying');
      setTimeout(() => (copy.textContent = 'Copy'), 2000);
    });
    const text = element('pre', { class: 'code', tabindex: 0, 'aria-label': title }, element('code', {}, code));
    place.append(element('section', { class: 'snippet' }, element('h3', {}, title), copy, element('p', { class: 'hint' }, hint), text));
  }
}

/** @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
