/**
 * Measures the time from nothing to the first answer. It is one function without imports, so that
 * the time covers everything that the page loads.
 *
 * @param {string} at the path at which the build is served
 * @returns {Promise<{ imported: number, created: number, answered: number, agent: number }>} milliseconds since the start
 */
export async function firstAnswer(at) {
  const start = performance.now();
  const since = () => performance.now() - start;
  const { createHost } = await import(/** @type {any} */ (`${at}/index.js`));
  const imported = since();
  const host = await createHost({ app: { id: 'bench', name: 'Benchmark', version: '1' } });
  const created = since();
  host.register('echo', {}, async (/** @type {any} */ given) => given);
  host.expose();
  const { abp } = /** @type {any} */ (window);
  await abp.initialize({ agent: { name: 'bench', version: '1' }, protocolVersion: '0.1', features: {} });
  const first = await abp.call('echo', { value: 1 });
  const answered = since();
  const { connectPort } = await import(/** @type {any} */ (`${at}/agent.js`));
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const second = await (await connectPort(port2)).call('echo', { value: 1 });
  if (!first.success || !second.success) throw new Error('the first answer is wrong');
  return { imported, created, answered, agent: since() };
}
