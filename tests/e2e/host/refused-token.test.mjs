import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { until } from '../support/hands.mjs';

const secrets = { app: 'the-secret-of-apps', agent: 'the-secret-of-agents' };
const needed = (/** @type {string} */ why, /** @type {string} */ role) =>
  `${why}: one of role ${role} is needed, as in \`caphost serve --token ${role}=…\``;

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  const args = Object.entries(secrets).flatMap(([role, secret]) => ['--token', `${role}=${secret}`]);
  [gateway, browser] = await Promise.all([startGateway({ args }), launchPuppeteer()]);
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** The token of an agent, and the reason of the refusal. @type {Array<[string | undefined, string]>} */
const refusals = [
  [undefined, needed('No token was given', 'agent')],
  ['a-wrong-secret', needed('The gateway does not know this token', 'agent')],
  [secrets.app, needed('This token has another role', 'agent')],
];

test('an agent in Node learns why its token is refused', async () => {
  for (const [token, message] of refusals) {
    await assert.rejects(connectWebSocket(`${gateway.wsUrl}/abp`, { token }), { code: 'PERMISSION_DENIED', retryable: false, message });
  }
});

test('a page learns why its token is refused, as agent and as app, and shows it', async () => {
  const page = await browser.newPage();
  try {
    /** @type {string[]} */
    const warnings = [];
    page.on('console', (message) => {
      if (message.type() === 'warn') warnings.push(message.text());
    });
    await page.goto(gateway.url);
    // The demo connects as an app without a token.
    const why = needed('No token was given', 'app');
    await page.waitForFunction(
      (text) => document.querySelector('#gateway[data-state=refused]')?.textContent === text,
      {},
      `Refused by the gateway: ${why}`,
    );
    assert.deepEqual(warnings, [`caphost: ${gateway.wsUrl}/abp/app refuses this app: ${why}`]);
    const told = await page.evaluate(async (url, tokens) => {
      const { connectWebSocket } = await import(/** @type {any} */ ('/caphost/agent.js'));
      const told = [];
      for (const token of tokens) {
        told.push(await connectWebSocket(url, { token: token ?? undefined }).catch((/** @type {any} */ error) => [error.code, error.message]));
      }
      return told;
    }, `${gateway.wsUrl}/abp`, refusals.map(([token]) => token));
    assert.deepEqual(told, refusals.map(([, message]) => ['PERMISSION_DENIED', message]));
    // The page closes with the gateway's reason, and the reason stays visible.
    await until(page, '#gateway', (element) => element.dataset.state === 'refused');
  } finally {
    await page.close();
  }
});

test('the log has both refusals, each reason once', () => {
  const lines = (/** @type {string} */ role) => gateway.log().split('\n').filter((it) => it.includes(`an ${role} is refused`));
  for (const role of ['app', 'agent']) {
    assert.equal(lines(role).filter((line) => line.includes(needed('No token was given', role))).length, 1, gateway.log());
  }
  assert.equal(lines('agent').length, refusals.length, gateway.log());
});
