/** How much memory processes have, as Linux says. */
import { readFile, writeFile } from 'node:fs/promises';

/** A field of `/proc/<pid>/status`, in bytes. @param {number} pid @param {string} field */
async function field(pid, field) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}

/** The resident memory of a process. @param {number} pid */
export const memory = (pid) => field(pid, 'VmRSS');

/** The largest resident memory that a process has had. @param {number} pid */
export const peakMemory = (pid) => field(pid, 'VmHWM');

/** Begins to measure the peak anew. @param {number} pid */
export const resetPeak = (pid) => writeFile(`/proc/${pid}/clear_refs`, '5');

/** The process of a page. @param {import('puppeteer-core').Page} page @returns {Promise<number>} */
export async function rendererOf(page) {
  const client = await page.browser().target().createCDPSession();
  const { processInfo } = await client.send('SystemInfo.getProcessInfo');
  await client.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const sizes = await Promise.all(renderers.map(async (id) => ({ id, size: await memory(id) })));
  // Others are empty pages.
  const [largest] = sizes.sort((a, b) => b.size - a.size);
  if (!largest) throw new Error('there is no renderer');
  return largest.id;
}
