import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { drawLarge, largeJobs } from '../support/large-jobs.mjs';

const demo = useDemo();

/** @type {string} */
let image;

/** @param {string} name */
async function paramsOf(name) {
  const params = largeJobs[name]?.params() ?? {};
  if (name !== 'image.process') return params;
  image ??= await demo.page.evaluate(drawLarge);
  return { ...params, image };
}

/**
 * Runs in the page. It makes a host of its own in the same way as the page, so that the test can read
 * the host's counters. It records everything that happens, in order.
 *
 * @param {{ name: string, params: object, stopAt: number }} job
 */
async function stopInPage({ name, params, stopAt }) {
  const { createDemo } = await import(/** @type {any} */ ('/caphost_demo.js'));
  const { connectPort } = await import(/** @type {any} */ ('/caphost/agent.js'));
  const host = createDemo();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  /** @type {[what: string, value?: any][]} */
  const log = [];
  /** @type {number[]} */
  const longTasks = [];
  const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let running = true;
  let framesBefore = 0;
  const count = () => {
    if (running) requestAnimationFrame(count);
    framesBefore += Number(running);
  };
  await frame();
  observer.observe({ type: 'longtask' });
  requestAnimationFrame(count);

  /** @type {() => void} */
  let reached = () => {};
  const halfway = new Promise((/** @type {(value: void) => void} */ resolve) => { reached = resolve; });
  const call = agent.call(name, params, {
    callId: 'large',
    onProgress: (/** @type {any} */ info) => {
      log.push(['progress', info.percentage]);
      if (info.percentage >= stopAt) reached();
    },
  }).then((/** @type {any} */ response) => log.push(['response', response]));
  await Promise.race([halfway, call]);
  running = false;
  const asked = performance.now();
  const painted = frame().then(() => log.push(['frame', performance.now() - asked]));
  log.push(['confirmed', await agent.cancel('large', 'enough')]);
  const held = host.stats();
  await Promise.all([call, painted]);
  // Everything that is still on its way arrives before the answer to a later request.
  const next = await agent.call('convert.markdownToHtml', { markdown: 'next' });
  await frame();
  observer.disconnect();
  const again = await agent.cancel('large');
  host.close();
  return { log, held, next: next.success, again, framesBefore, longTasks };
}

/**
 * Stops a job in the page and checks all effects of the cancel.
 *
 * @param {import('node:test').TestContext} t
 * @param {Parameters<typeof stopInPage>[0]} job
 * @returns {Promise<number>} the milliseconds until the next frame was painted
 */
async function stopOnce(t, job) {
  const { log, held, next, again, framesBefore, longTasks } = await demo.page.evaluate(stopInPage, job);
  const index = (/** @type {string} */ what) => log.findIndex(([it]) => it === what);
  const confirmed = log[index('confirmed')]?.[1];
  const { metadata } = confirmed;
  assert.deepEqual(confirmed, { callId: 'large', cancelled: true, metadata });
  assert.equal(metadata.stop, 'dropped');
  // A capability in a worker of this isolated page sees the flag at a checkpoint, or receives the
  // message.
  assert.match(metadata.step, /^(flag|signal)$/);
  assert.ok(metadata.took >= 0, `${metadata.took}`);
  assert.deepEqual(log[index('response')]?.[1], { success: false, cancelled: true, metadata });
  assert.ok(index('confirmed') > 0 && index('progress') < index('confirmed'), 'it was at work');
  assert.ok(log.slice(index('confirmed')).every(([what]) => what !== 'progress'), 'no progress after the confirmation');
  const frameAfter = log[index('frame')]?.[1];
  assert.ok(framesBefore >= 2, `${framesBefore} frames were painted while it worked`);
  assert.equal(held.inFlight, 0, 'the host holds no task');
  assert.equal(held.contexts, 0);
  assert.equal(next, true);
  assert.deepEqual(again, confirmed, 'asked again, it says the same');
  const longest = Math.round(Math.max(0, ...longTasks));
  t.diagnostic(`a frame after ${Math.round(frameAfter)} ms; ${longTasks.length} tasks over 50 ms, the longest ${longest} ms; ${framesBefore} frames before the cancel`);
  return frameAfter;
}

for (const [name, { stopAt }] of Object.entries(largeJobs)) {
  test(`${name} stops midway when it is cancelled in the page`, { timeout: 120_000 }, async (t) => {
    const job = { name, params: await paramsOf(name), stopAt };
    // A busy machine can delay a single frame, so one undisturbed attempt of a few is enough.
    let frameAfter = Infinity;
    for (let attempt = 0; attempt < 4 && frameAfter >= 100; attempt += 1) frameAfter = await stopOnce(t, job);
    assert.ok(frameAfter < 100, `a frame was painted after ${frameAfter} ms`);
  });

  test(`${name} stops midway when an agent in Node cancels it through the gateway`, { timeout: 60_000 }, async () => {
    const params = await paramsOf(name);
    /** @type {string[]} */
    const log = [];
    /** @type {() => void} */
    let reached = () => {};
    const halfway = new Promise((/** @type {(value: void) => void} */ resolve) => { reached = resolve; });
    const callId = `remote ${name}`;
    const call = demo.agent.call(name, params, {
      callId,
      onProgress: (info) => {
        log.push('progress');
        if (Number(info.percentage) >= stopAt) reached();
      },
    });
    await Promise.race([halfway, call]);
    const confirmed = await demo.agent.cancel(callId, 'enough');
    log.push('confirmed');
    const painted = demo.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve('painted'))));
    const { metadata } = confirmed;
    assert.deepEqual(confirmed, { callId, cancelled: true, metadata });
    assert.equal(metadata?.stop, 'dropped');
    assert.match(String(/** @type {any} */ (metadata).step), /^(flag|signal)$/);
    assert.deepEqual(await call, { success: false, cancelled: true, metadata });
    assert.equal(await painted, 'painted');
    assert.equal((await demo.agent.call('convert.markdownToHtml', { markdown: 'next' })).success, true);
    assert.equal(log.at(-1), 'confirmed', 'no progress after the confirmation');
    await demo.page.waitForFunction(() => ['running', 'queued'].every((state) => document.querySelector(`#counts [data-state=${state}] dd`)?.textContent === '0'));
  });
}

test('an agent that disconnects while it exports leaves nothing at work in the page', { timeout: 60_000 }, async () => {
  const leaving = await demo.connect('leaving');
  await new Promise((resolve) => {
    void leaving.call('export.archive', { megabytes: 400 }, { callId: 'left', onProgress: resolve });
  });
  await leaving.shutdown();
  await demo.page.waitForSelector('.call[data-call-id=left][data-state=cancelled]');
  await demo.page.waitForFunction(() => document.querySelector('#counts [data-state=running] dd')?.textContent === '0');
});
