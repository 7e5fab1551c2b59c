import { attach } from 'caphost/automation';
import puppeteer from 'puppeteer-core';

const [url = 'http://127.0.0.1:8787/'] = process.argv.slice(2);
const browser = await puppeteer.launch(process.env.CHROME ? { executablePath: process.env.CHROME } : { channel: 'chrome' });
try {
  const page = await browser.newPage();
  await page.goto(url);
  const agent = await attach(page, { agent: { name: 'Example with Puppeteer', version: '1.0.0' } });
  for (const { name, description } of await agent.listCapabilities()) console.log(`${name}: ${description}`);

  const { html } = await agent.invoke('convert.markdownToHtml', { markdown: '# It works' });
  console.log(html.trim());

  // A signal cancels this call. `stop` says how far the work was seen to stop.
  const signal = AbortSignal.timeout(300);
  const { cancelled, metadata } = await agent.call('export.archive', { megabytes: 400 }, { signal });
  console.log(cancelled ? `stopped: ${metadata.stop}` : 'completed');
  await agent.shutdown();
} finally {
  await browser.close();
}
