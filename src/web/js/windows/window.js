/**
 * A frame, a popup, an opener, or a parent page. A page loads this part with its first `connectWindow`.
 *
 * Each `initialize` brings a MessagePort. A host of this package answers on that port, which is the
 * connection from then on. A plain ABP host answers with a window message; then the connection consists
 * of the messages of that window and origin. A window of an opaque origin, which has no name, is
 * ignored.
 */

/** How often to check whether the window still exists: no event announces its end. */
const LOOK_EVERY = 300;

/**
 * @typedef {object} Tools shared with the code that every page loads
 * @property {typeof import('../errors.js').abpError} abpError
 * @property {typeof import('../short.js').announcing} announcing
 * @property {typeof import('../on-window.js').onWindow} onWindow
 * @property {typeof import('../read.js').originOf} originOf
 * @property {typeof import('../agent-port.js').portMessenger} portMessenger
 * @property {typeof import('../short.js').takesShort} takesShort
 */

/**
 * @param {Window} win
 * @param {string | undefined} given the target origin, or `*` for any origin
 * @param {Tools} tools
 * @returns {import('../messenger.js').Messenger}
 */
export function windowMessenger(win, given, { abpError, announcing, onWindow, originOf, portMessenger, takesShort }) {
  const origin = given ?? location.origin;
  const named = origin === '*' ? '*' : originOf(origin);
  if (named === undefined) throw abpError('INVALID_PARAMS', `origin must be like 'https://app.example', not ${origin}`);
  let target = named;
  /** The origin whose messages are accepted. */
  let expected = named;
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {MessagePort[]} */
  const offered = [];
  /** @type {import('../messenger.js').Messenger | undefined} */
  let port;
  /** @type {unknown} */
  let opening;
  let plain = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let looking;

  /** @type {import('../messenger.js').Messenger} */
  const messenger = {
    // A window that is still loading receives nothing.
    forgetful: true,
    hint: ` at ${named}: ${given ? `is ${location.origin} in its allowedOrigins?` : "no origin was given, so this page's own was used; pass { origin } for an app of another"}`,
    onmessage: undefined,
    onclose: undefined,
    onsuspect: undefined,
    post(envelope, transfer = []) {
      if (port) port.post(envelope, transfer);
      else if (envelope.type === 'initialize') offer(envelope);
      else {
        // A host that has not answered yet may have accepted a port.
        for (const it of offered) it.postMessage(envelope);
        win.postMessage(envelope, { targetOrigin: target, transfer });
      }
    },
    close() {
      messenger.onmessage = messenger.onclose = messenger.onsuspect = undefined;
      messenger.life?.end?.();
      stop.abort();
      for (const off of offs) off();
      retract();
      clearInterval(looking);
      port?.close();
    },
  };
  const gone = () => messenger.onclose?.();

  /** @param {import('../messenger.js').Envelope} initialize */
  const offer = (initialize) => {
    opening = initialize.id;
    looking ??= setInterval(() => win.closed && gone(), LOOK_EVERY);
    const { port1, port2 } = new MessageChannel();
    offered.push(port1);
    port1.onmessage = ({ data }) => adopt(port1, data);
    win.postMessage(announcing(initialize), { targetOrigin: target, transfer: [port2] });
  };

  /** @param {MessagePort} [kept] */
  const retract = (kept) => {
    for (const other of offered.splice(0)) if (other !== kept) other.close();
  };

  /** @param {MessagePort} answered @param {any} envelope */
  const adopt = (answered, envelope) => {
    if (port || plain) return;
    answered.onmessage = null;
    retract(answered);
    port = portMessenger(answered, true, takesShort(envelope?.payload));
    port.onmessage = (next) => messenger.onmessage?.(next);
    port.onresult = (id, data, duration) => messenger.onresult?.(id, data, duration);
    messenger.postCall = port.postCall;
    port.onclose = gone;
    watchFrame(win, signal, gone, () => messenger.onsuspect?.(true));
    messenger.onmessage?.(envelope);
  };

  const offs = [onWindow('message', ({ source, origin: from, data }) => {
    if (port || source !== win || (expected !== '*' && from !== expected)) return;
    if (!plain) {
      if (opening === undefined || data?.id !== opening || !isAnswer(data)) return;
      // A message cannot name an opaque origin as its target: any document that is in the window by
      // then would receive it.
      if (from === 'null') return;
      plain = true;
      retract();
      expected = target = from;
      watchFrame(win, signal, gone, () => messenger.onsuspect?.(false));
    }
    messenger.onmessage?.(data);
  // An answer was lost, and it is unknown which.
  }), onWindow('messageerror', ({ source }) => plain && source === win && gone())];
  return messenger;
}

/** @param {any} envelope */
const isAnswer = ({ type }) => type === 'initialize-result' || type === 'error';

/**
 * Watches a frame: after a load, it has, or may have, another document than before.
 *
 * @param {Window} win
 * @param {AbortSignal} signal
 * @param {() => void} gone
 * @param {() => void} suspect
 */
function watchFrame(win, signal, gone, suspect) {
  const frame = [...document.querySelectorAll('iframe')].find((it) => it.contentWindow === win);
  // Null for a document of another origin.
  const known = frame?.contentDocument;
  let loaded = known?.readyState === 'complete';
  frame?.addEventListener('load', () => {
    if (loaded || (known && frame.contentDocument !== known)) return gone();
    loaded = true;
    // If a frame is not known to be loaded, its first load may be that of the document we are connected
    // to.
    return frame.contentDocument && frame.contentDocument === known ? undefined : suspect();
  }, { signal });
}
