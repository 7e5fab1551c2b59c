/**
 * The only interface between a host or an agent and a transport.
 *
 * @typedef {Common & OfAgents & OfHosts} Messenger
 *
 * @typedef {object} Common
 * @property {(envelope: Envelope, transfer?: Transferable[]) => unknown} post throws when the envelope
 *   cannot be sent; once the peer is gone, posted envelopes are dropped. For an agent, returns the number
 *   of bytes of a large message on a transport that may be slow
 * @property {() => void} close releases everything; no callback is called any more
 * @property {((message: any, aborted?: import('./signal.js').Aborted) => void) | undefined} onmessage set by the host
 *   or agent. `aborted`: of a call that was aborted before it was made
 * @property {((error?: any) => void) | undefined} onclose set by the host or agent; called once, when the peer is gone,
 *   with what went wrong if that is known. A host passes that on to its handlers, as a text
 * @property {boolean} [short] whether the peer accepts messages in their short form
 *
 * @typedef {{ type: string, id?: string, timestamp: number, payload: any }} Envelope
 */

/**
 * What an agent knows of some transports in addition.
 *
 * @typedef {object} OfAgents
 * @property {((certain: boolean) => void) | undefined} [onsuspect] set by the agent; called when
 *   the peer may be gone. If `certain`, it is unless it says something soon.
 * @property {((bytes: number) => void) | undefined} [onexpect] set by the agent; called when the peer
 *   announces that its next message is large
 * @property {(key: number, payload: any, transfer?: Transferable[]) => unknown} [postCall] a shorter way for the calls of
 *   an agent, whose parameters are a copy of plain ones unless `transfer` is given
 * @property {((id: unknown, data: unknown, duration: unknown) => void) | undefined} [onresult] set by the agent; called
 *   with the response of a call that has completed, if that came in a short form
 * @property {{ announced: object, receive?: (event: string, data: any, messenger: Messenger) => void, end?: () => void }} [life]
 *   how the agent gives signs of life: what it announces with `initialize`, and what it does with the host's notifications
 *   about that. The messenger ends it when it closes
 * @property {boolean} [forgetful] whether envelopes may be lost while the peer is still starting
 * @property {string | undefined} [stuck] why the app seems not to answer, if that is known
 * @property {string} [hint] where the app was asked, and the likely reason if nobody answers
 */

/**
 * What a host knows of some transports in addition.
 *
 * @typedef {object} OfHosts
 * @property {() => void} [release] stops listening, and leaves the transport open
 * @property {((id: unknown, data: unknown, duration: number) => void)} [postResult] the short form of a completed call
 * @property {((call: any[]) => void) | undefined} [oncall] set by the host; called with a call in its short form
 * @property {(() => void) | undefined} [onunreadable] set by the host; called when a message could not be read, and it is
 *   unknown which
 * @property {number[]} [from] the source, if other agents may have the same: the numbers of an origin and a window, or
 *   that of a link
 * @property {boolean} [local] whether messages are objects of the page itself, which nobody has copied
 * @property {boolean} [objects] whether it carries whatever can be cloned, and not only JSON
 * @property {boolean} [alone] whether each message comes in a job of its own, in which no code of the app runs
 * @property {boolean} [abp] whether agents speak only ABP
 * @property {boolean} [lasting] whether one connection serves all sessions, one after the other
 * @property {boolean} [single] whether it serves one session, and is then closed
 * @property {boolean} [kept] whether the host must close it even when it has no session
 * @property {boolean} [watched] whether nothing reports that an agent is gone, or that the host's page was left
 */

/** @param {any} messenger of another party @returns {string | undefined} the problem with it, if there is a problem */
export function problemWithMessenger(messenger) {
  const lacks = ['post', 'close'].find((name) => typeof messenger?.[name] !== 'function');
  return lacks && `A messenger has the functions post and close, and this has no ${lacks}`;
}
