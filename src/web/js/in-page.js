/**
 * `window.abp`: the ABP 0.1 object, for automation clients and scripts of the page itself.
 */
import { claim } from './claim.js';
import { LEFT } from './connection.js';
import { CAPABILITIES_CHANGED } from './events.js';
import { failure, text, thrown } from './errors.js';
import { toText } from './json.js';
import { onWindow } from './on-window.js';
import { get, isObject } from './read.js';
import { Requests } from './requests.js';
import { callsWithThread, endMarked, hasThread, heldFor, settleTerminated } from './running.js';
import { reasonText, underSignal } from './signal.js';
import { notify, tellIfFit } from './taken.js';

/**
 * @param {import('./shell.js').Shell} shell
 * @param {any} target
 * @param {boolean} [replace] whether to replace another host, whose sessions continue
 * @returns {() => void} removes it
 */
export function exposeAbp(shell, target, replace) {
  const unclaim = claim(target, 'object', replace, () => link?.remove());
  const requests = new Requests(shell, (envelope) => void callBack(target, envelope, connection));
  const { connection } = requests;
  /** @type {Requests['request']} */
  const request = (...args) => requests.request(...args);

  /** @type {import('../../../npm/index.js').Abp & Record<symbol, object>} */
  const abp = {
    // For automation: whether the code of a call has the thread, or had it when its job was ended, and
    // which call.
    [Symbol.for('caphost.thread')]: {
      get calls() {
        return callsWithThread(shell, connection.number);
      },
      get held() {
        return hasThread();
      },
      get heldFor() {
        return heldFor();
      },
      end: endMarked,
      /** In a task of its own, nothing else is on the stack, and its microtasks are not lost with another job. */
      settled: () => new Promise((resolve) => setTimeout(() => {
        settleTerminated();
        resolve(undefined);
      })),
    },
    protocolVersion: '0.1',
    app: shell.app,
    get sessionId() {
      return shell.rust.sessionId(shell.number, connection.number) ?? null;
    },
    get initialized() {
      return this.sessionId !== null;
    },

    async initialize(params) {
      const result = await request('initialize', params);
      const error = get(result, 'error');
      if (error) throw thrown(error);
      return result;
    },

    async shutdown(params) {
      await request('shutdown', params);
    },

    /** @param {string} capability @param {object} [params] @param {any} [options] */
    call(capability, params, options) {
      const called = isObject(options) && Object.keys(options).find((name) => typeof get(options, name) === 'function');
      if (called) return Promise.resolve(failure('INVALID_PARAMS', `Bad options.${called}: window.abp takes no functions; progress goes to window.__abp_progress`));
      const signal = get(options, 'signal');
      if (signal == null) return request('capabilities/call', { capability, params, options });
      /** @type {any} */
      let rest;
      try {
        rest = { ...options, signal: undefined };
      } catch (error) {
        return Promise.resolve(failure('INVALID_PARAMS', `The options cannot be read: ${text(error)}`));
      }
      rest.callId ??= shell.ids.next();
      // A call that was refused at once may have the callId of another call, which continues.
      let open = true;
      return underSignal(
        signal,
        (reason) => void (open && abp.cancel(rest.callId, reason)),
        (aborted) => request('capabilities/call', { capability, params, options: rest }, () => (open = false), aborted),
      );
    },

    /** @param {string | { callId: string, reason?: string }} call @param {string} [reason] */
    cancel(call, reason) {
      const given = typeof call === 'object' ? call : { callId: call, reason };
      return request('capabilities/cancel', { callId: get(given, 'callId'), reason: reasonText(get(given, 'reason')) });
    },

    async listCapabilities() {
      return shell.capabilities.documents(connection.number);
    },

    async describeCapability(name) {
      return shell.capabilities.find(name, connection.number) ?? null;
    },

    async supports(name) {
      const found = shell.capabilities.find(name, connection.number);
      if (!found) return { supported: false, available: false, reason: `There is no capability "${String(name).slice(0, 64)}"` };
      const { available, requirements, features, alternatives } = found;
      return { supported: true, available, requirements, features, ...(alternatives && { alternatives }) };
    },

    notify(event, data) {
      notify(shell, event, data);
    },

    notifyProgress(info) {
      tellIfFit(shell, 'progress', info, (copy) => {
        const operation = get(copy, 'operationId');
        if (operation !== undefined) shell.rust.notifyProgress(shell.number, operation, copy);
      });
    },

    elicit(request) {
      return shell.asks.agent(request, shell.rust.ask, connection.number);
    },
  };
  Object.freeze(abp);
  Object.defineProperty(target, 'abp', /** @type {any} */ ({ __proto__: null, value: abp, configurable: true, enumerable: true, writable: false }));
  const link = linkManifest(shell, target.document);
  /** The user leaves the page. It may come back, but its automation client has been told that it is gone. */
  const onHide = () => {
    connection.giveUp(LEFT);
    shell.rust.giveUp(shell.number, connection.number);
  };
  const forget = onWindow('pagehide', onHide);
  return () => {
    forget();
    unclaim();
    if (target.abp === abp) delete target.abp;
    link?.remove();
    connection.close();
  };
}

/**
 * Passes unrequested messages of the host to the functions that an automation client has exposed.
 *
 * @param {any} target
 * @param {import('./connection.js').Envelope} envelope
 * @param {import('./connection.js').Connection} connection
 */
async function callBack(target, { type, id, payload }, connection) {
  // An app may call back at once, while the host is in the middle of its work.
  await undefined;
  try {
    if (type === 'progress') await target.__abp_progress?.(payload);
    else if (type === 'notification') {
      const changed = payload.event === CAPABILITIES_CHANGED && target.__abp_capabilities_changed;
      if (changed) await changed(payload.data);
      else await target.__abp_notification?.(payload);
    } else if (type === 'elicitation/request') {
      const ask = target.__abp_elicitation;
      const answer = ask ? await ask({ ...payload, id }) : failure('NOT_SUPPORTED', 'No __abp_elicitation is exposed');
      connection.answer(id, typeof answer?.success === 'boolean' ? answer : { success: true, data: answer });
    }
  } catch (error) {
    if (type === 'elicitation/request') connection.answer(id, failure('OPERATION_FAILED', text(error)));
  }
}

/**
 * If a page's server announces no manifest, the page gets a manifest of the registered capabilities.
 *
 * @param {import('./shell.js').Shell} shell
 * @param {Document | undefined} document
 */
function linkManifest(shell, document) {
  if (!document?.head || document.querySelector('link[rel="abp-manifest"]')) return undefined;
  const link = document.createElement('link');
  link.rel = 'abp-manifest';
  const update = () => {
    link.href = `data:application/json,${encodeURIComponent(toText(shell.capabilities.manifest()))}`;
  };
  update();
  document.head.append(link);
  const stop = shell.capabilities.onChanged(update);
  return {
    remove() {
      stop();
      link.remove();
    },
  };
}
