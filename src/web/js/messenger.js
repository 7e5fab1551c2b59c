/**
 * The only interface between an agent and a transport.
 *
 * @typedef {object} Messenger
 * @property {(envelope: Envelope, transfer?: Transferable[]) => unknown} post throws when the envelope
 *   cannot be sent; once the peer is gone, posted envelopes are dropped. Returns the number of bytes of
 *   a large message on a transport that may be slow
 * @property {() => void} close releases everything; no callback is called any more
 * @property {((envelope: any) => void) | undefined} onmessage set by the agent
 * @property {((error?: Error) => void) | undefined} onclose set by the agent; called once, when the
 *   peer is gone, with what went wrong if that is known
 * @property {((certain: boolean) => void) | undefined} [onsuspect] set by the agent; called when
 *   the peer may be gone. If `certain`, it is unless it says something soon.
 * @property {((bytes: number) => void) | undefined} [onexpect] set by the agent; called when the peer
 *   announces that its next message is large
 * @property {(key: number, payload: any, transfer?: Transferable[]) => unknown} [postCall] a shorter way for the calls of
 *   an agent, whose parameters are a copy of plain ones unless `transfer` is given
 * @property {((id: unknown, data: unknown, duration: unknown) => void) | undefined} [onresult] set by the agent; called
 *   with the response of a call that has completed, if that came in a short form
 * @property {boolean} [forgetful] whether envelopes may be lost while the peer is still starting
 * @property {string | undefined} [stuck] why the app seems not to answer, if that is known
 * @property {string} [hint] where the app was asked, and the likely reason if nobody answers
 *
 * @typedef {{ type: string, id?: string, timestamp: number, payload: any }} Envelope
 */

/** @param {any} messenger of another party @returns {string | undefined} the problem with it, if there is a problem */
export function problemWithMessenger(messenger) {
  const lacks = ['post', 'close'].find((name) => typeof messenger?.[name] !== 'function');
  return lacks && `A messenger has the functions post and close, and this has no ${lacks}`;
}
