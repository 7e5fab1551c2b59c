import { again, envelope, open } from './sockets.mjs';

/** @typedef {import('./sockets.mjs').Target} Target */

/** During this attack nobody reads the gateway's standard error. */
export const unreadLog = 'lines of a log that nobody reads';

/** Attacks that make the gateway write much to its log. @type {Record<string, (target: Target) => Promise<void>>} */
export const log = {
  [unreadLog]: async (target) => {
    const socket = await open(target, '/abp?app=shop', { secret: target.secrets.agent });
    if (!socket) return;
    socket.send(envelope('initialize', { agent: { name: 'mallory', version: '1' }, protocolVersion: '0.1' }));
    await again(target, 10, (round) => {
      if (socket.readyState !== socket.OPEN || socket.bufferedAmount > 0) return;
      for (let count = 0; count < 2; count += 1) {
        const callId = `logged ${round} ${count} `.padEnd(128, 'x');
        target.count('tried');
        socket.send(envelope('capabilities/call', { capability: 'wait', params: {}, options: { callId } }, callId));
        socket.send(envelope('capabilities/cancel', { callId }, `cancel ${callId}`));
      }
    });
  },
};
