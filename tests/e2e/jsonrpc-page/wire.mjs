import { useLab } from '../support/lab.mjs';

/**
 * Pages with a host, and with a JSON-RPC peer on a port that sends whatever the test tells it.
 */
export function useWire() {
  const lab = useLab();
  return {
    ...lab,
    /**
     * @param {(it: { lab: any, host: any, raw: any, until: any, rpc: (id: unknown, method: string, params?: any) => any }, ...args: any[]) => any} work
     * @param {any[]} args
     * @returns {Promise<any>}
     */
    onPort: (work, ...args) => lab.run(async (given, source, args) => {
      const { registerWork } = await import(`${location.origin}/jsonrpc-page/app.js`);
      const host = await given.newHost();
      registerWork(host);
      const raw = await given.rawPort(host, false);
      const rpc = (/** @type {unknown} */ id, /** @type {string} */ method, /** @type {any} */ params) =>
        ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...(params && { params }) });
      /** @param {() => any} holds */
      const until = async (holds) => {
        const since = performance.now();
        while (!(await holds())) {
          if (performance.now() - since > 10_000) throw new Error(`in vain: ${holds}; heard ${JSON.stringify(raw.heard).slice(0, 500)}`);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      };
      return (0, eval)(`(${source})`)({ lab: given, host, raw, until, rpc }, ...args);
    }, String(work), args),
  };
}
