import { connectWebSocket } from 'caphost/agent';
import { after, before } from 'node:test';
import { launchPuppeteer } from './browsers.mjs';
import { startGateway } from './gateway.mjs';

/**
 * The demo, served by `caphost serve`, opened in a real browser and registered with the gateway. The
 * tests of one file share it.
 */
export function useDemo() {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway;
  /** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
  let browser;
  /** @type {import('puppeteer-core').Page} */
  let page;
  /** @type {import('caphost/agent').Agent} */
  let agent;
  /** @type {string[]} */
  const complaints = [];

  before(async () => {
    [gateway, browser] = await Promise.all([startGateway(), launchPuppeteer()]);
    page = await self.open();
    agent = await self.connect('test');
  });
  after(async () => {
    await agent?.shutdown();
    await browser?.close();
    await gateway?.stop();
  });

  const self = {
    get gateway() {
      return gateway;
    },
    get page() {
      return page;
    },
    /** The warnings and errors in the consoles of pages, their failed requests, and their exceptions. */
    complaints,
    /** Opens another page of the demo, and waits until it is registered with the gateway. @param {import('puppeteer-core').Viewport} [viewport] */
    async open(viewport = { width: 1280, height: 900 }) {
      const opened = await browser.newPage();
      // Each test has its own limit.
      opened.setDefaultTimeout(120_000);
      await opened.setViewport(viewport);
      opened.on('console', (message) => {
        if (['error', 'warn', 'issue'].includes(message.type())) complaints.push(message.text());
      });
      opened.on('pageerror', (error) => complaints.push(String(error)));
      opened.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
      await opened.goto(`${gateway.url}/`);
      await opened.waitForSelector('#gateway[data-state=connected]');
      await opened.waitForSelector('.capability');
      return opened;
    },
    /** Opens an idle page in a separate window beside the demo, so that both are painted. */
    async openIdle() {
      const idle = await browser.browser.newPage({ type: 'window' });
      await idle.goto('about:blank');
      return idle;
    },
    /** An agent in Node, through the gateway. */
    get agent() {
      return agent;
    },
    /** Connects another agent in Node. @param {string} name */
    connect: (name) =>
      connectWebSocket(`${gateway.wsUrl}/abp?app=caphost-demo`, { agent: { name, version: '1' } }),
  };
  return self;
}

/**
 * Starts a session of an agent in the demo page, as `globalThis.agent`, over a frame's messages.
 *
 * @param {import('puppeteer-core').Page} page
 */
export async function agentInPage(page) {
  await page.evaluate(async () => {
    const { connectWindow } = await import(/** @type {any} */ ('/caphost/agent.js'));
    Object.assign(globalThis, { agent: await connectWindow(window, { agent: { name: 'in the page', version: '1' } }) });
  });
}

/** Varied paragraphs of prose. @param {number} kilobytes */
export function prose(kilobytes) {
  const words = 'harbour tide pilot lighthouse cargo morning fog captain rope market gull signal winter engine chart'.split(' ');
  const sentences = [];
  let length = 0;
  for (let i = 0; length < kilobytes * 1000; i += 1) {
    const chosen = Array.from({ length: 8 + (i % 9) }, (_, j) => words[(i * 7 + j * j * 3 + (i >> 3)) % words.length]);
    const sentence = `The ${chosen.join(' ')} came on day ${i}.`;
    sentences.push(sentence);
    length += sentence.length + 1;
  }
  return sentences.join(' ');
}

/** A Markdown document of many sections. @param {number} kilobytes */
export function markdown(kilobytes) {
  const parts = ['# Harbour almanac'];
  let length = 0;
  const body = prose(4);
  for (let day = 1; length < kilobytes * 1000; day += 1) {
    const part = `## Day ${day}\n\n${body}\n\n- **tide** at ${day % 24}:10\n- *fog* until noon\n\n| Water | Height |\n|:--|--:|\n| High | ${day}.2 |`;
    parts.push(part);
    length += part.length + 2;
  }
  return parts.join('\n\n');
}
