import { after, before } from 'node:test';
import { startGateway } from './gateway.mjs';
import { useLab } from './lab.mjs';

/**
 * A lab, and a gateway that accepts the lab's pages.
 *
 * @param {string[]} [args] arguments of the gateway
 * @param {Parameters<typeof useLab>[0]} [files] the other files to serve
 */
export function useLabWithGateway(args = [], files = undefined) {
  const lab = useLab(files);
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway;
  const start = (port = 0) => startGateway({ port, args: ['--allow-origin', lab.server.origin, ...args] });
  before(async () => {
    await lab.begun;
    gateway = await start();
  });
  after(() => gateway?.stop('SIGKILL'));
  return {
    page: lab.page,
    get browser() {
      return lab.browser;
    },
    get server() {
      return lab.server;
    },
    run: lab.run,
    get urls() {
      return { app: `${gateway.wsUrl}/abp/app`, agent: `${gateway.wsUrl}/abp?app=lab` };
    },
    get gateway() {
      return gateway;
    },
    /** Kills the gateway. */
    kill: () => gateway.stop('SIGKILL'),
    restart: async () => {
      gateway = await start(gateway.port);
    },
  };
}
