/**
 * A page that has tools (WebMCP) but no `window.abp`. Envelopes become invocations through the
 * browser's DevTools, and the results of the invocations become envelopes.
 *
 * The browser keeps neither callIds nor timeouts: this class remembers the ids, and the agent cancels
 * calls that take too long.
 */
import { CAPABILITIES_CHANGED, cancelConfirmation, cancelResponse, cancelled } from '../envelope.js';
import { abpError, failure, problem } from '../errors.js';
import { LIST } from '../listing.js';
import { newId } from '../platform.js';

/** The number of remembered callIds, so that no id is used twice and a late cancel gets a true answer. */
const REMEMBERED = 10_000;

/**
 * The DevTools session of a page, the same from Puppeteer and from Playwright.
 *
 * @typedef {object} DevTools
 * @property {(method: string, params?: object) => Promise<any>} send
 * @property {(event: string, listener: (params: any) => void) => unknown} on
 * @property {() => Promise<void>} detach
 *
 * @typedef {object} Call
 * @property {unknown} id
 * @property {string} callId
 * @property {string} frameId where its tool is
 * @property {Promise<any>} [begun] gives the browser's name for it
 * @property {string} [invocation] that name, once it is known
 * @property {unknown[]} cancels the ids of the requests that wait for its end
 * @property {boolean} [unwanted] nobody waits for it
 */

export class ToolsMessenger {
  /** @type {((envelope: any) => void) | undefined} */
  onmessage = undefined;
  /** @type {((error?: Error) => void) | undefined} */
  onclose = undefined;
  /** @type {Map<string, string>} the tools: their names, and the frames they are in */
  #tools = new Map();
  /** @type {Map<string, any>} the same, as the browser describes them */
  #described = new Map();
  /** @type {Map<string, Call>} by callId */
  #calls = new Map();
  /** @type {Map<string, Call>} by the browser's name for them */
  #invocations = new Map();
  /** @type {Map<string, any>} the results of invocations whose names were not known yet */
  #early = new Map();
  /** @type {Map<string, string | undefined>} callIds of calls that have ended, and how far each cancelled call was seen to stop */
  #ended = new Map();
  #open = false;
  /** @type {unknown} the id of a shutdown that waits for the calls to end */
  #leaving;

  /** @param {DevTools} devTools */
  constructor(devTools) {
    this.devTools = devTools;
    devTools.on('WebMCP.toolsAdded', ({ tools }) => this.#changed(tools, []));
    devTools.on('WebMCP.toolsRemoved', ({ tools }) => this.#changed([], tools));
    devTools.on('WebMCP.toolResponded', (event) => this.#responded(event));
    devTools.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId) this.#leftBehind(frame.id);
      else this.onclose?.(abpError('DISCONNECTED', 'The page is gone'));
    });
    devTools.on('Page.frameDetached', ({ frameId }) => this.#leftBehind(frameId));
  }

  /**
   * @param {any} page of Puppeteer or Playwright
   * @returns {Promise<ToolsMessenger | undefined>} undefined if there are no tools
   */
  static async open(page) {
    const devTools = await openDevTools(page);
    if (!devTools) return undefined;
    const messenger = new ToolsMessenger(devTools);
    try {
      await devTools.send('WebMCP.enable');
      // The existing tools are reported as events.
      await devTools.send('Page.getFrameTree');
      if (messenger.#tools.size > 0) return messenger;
    } catch {
      // The browser has no tools.
    }
    messenger.close();
    return undefined;
  }

  /** @param {import('../messenger.js').Envelope} envelope */
  post({ type, id, payload }) {
    if (type === 'initialize') this.#answer('initialize-result', id, this.#session());
    else if (type === 'capabilities/call') void this.#call(id, payload);
    else if (type === 'capabilities/cancel') this.#cancel(id, payload);
    else if (type === LIST) this.#answer(`${LIST}-result`, id, { capabilities: [...this.#tools.keys()].map((name) => this.#described.get(name)) });
    else if (type === 'shutdown') {
      this.#leaving = id ?? null;
      this.#cancelAll();
      this.#mayLeave();
    }
  }

  /** Cancels every running invocation, as nobody waits for it. */
  close() {
    this.onmessage = this.onclose = undefined;
    this.#cancelAll();
    // A call without a name yet is cancelled when it gets its name. Only then is the work complete.
    const begun = [...this.#calls.values()].map((call) => call.begun);
    void Promise.allSettled(begun).then(() => this.devTools.detach()).catch(() => {});
  }

  #session() {
    this.#open = true;
    return {
      sessionId: newId(),
      protocolVersion: '0.1',
      app: { id: 'webmcp', name: 'WebMCP', version: '1' },
      capabilities: [...this.#tools.keys()].map((name) => ({ name, available: true })),
      features: { notifications: true, progress: false, elicitation: false, dynamicCapabilities: true },
    };
  }

  /** @param {any[]} added @param {any[]} removed */
  #changed(added, removed) {
    // If two frames have tools of the same name, the first frame's tool counts.
    const gone = removed.filter(({ name, frameId }) => this.#tools.get(name) === frameId);
    for (const { name } of gone) {
      this.#tools.delete(name);
      this.#described.delete(name);
    }
    const come = added.filter(({ name }) => !this.#tools.has(name));
    for (const { name, frameId, description = '', inputSchema } of come) {
      this.#tools.set(name, frameId);
      this.#described.set(name, { name, description, ...(inputSchema && { inputSchema }) });
    }
    if (!this.#open || come.length + gone.length === 0) return;
    const names = (/** @type {any[]} */ tools) => tools.map(({ name }) => name);
    this.#say('notification', { event: CAPABILITIES_CHANGED, data: { added: names(come), removed: names(gone) } });
  }

  /** @param {unknown} id @param {any} payload */
  async #call(id, { capability, params = {}, options: { callId } }) {
    const frameId = this.#tools.get(capability);
    const used = this.#calls.has(callId) || this.#ended.has(callId);
    const refused = used
      ? failure('INVALID_PARAMS', `The callId "${callId}" has been used`)
      : !frameId && failure('UNKNOWN_CAPABILITY', `There is no tool "${capability}"`);
    if (refused) return this.#answer('capabilities/call-result', id, refused);
    /** @type {Call} */
    const call = { id, callId, frameId: String(frameId), cancels: [] };
    this.#calls.set(callId, call);
    try {
      call.begun = this.devTools.send('WebMCP.invokeTool', { frameId, toolName: capability, input: params });
      const { invocationId } = await call.begun;
      if (this.#calls.get(callId) !== call) return undefined;
      call.invocation = invocationId;
      this.#invocations.set(invocationId, call);
      const early = this.#early.get(invocationId);
      if (early) this.#responded(early);
      else if (call.unwanted || call.cancels.length > 0) this.#stop(call);
    } catch (error) {
      this.#settle(call, failure('OPERATION_FAILED', `The tool cannot be invoked: ${/** @type {any} */ (error)?.message ?? error}`));
    }
    return undefined;
  }

  /** @param {unknown} id @param {{ callId: string }} payload */
  #cancel(id, { callId }) {
    const call = this.#calls.get(callId);
    if (call) {
      // One cancel on its way is enough: the browser refuses a second cancel.
      if (call.cancels.push(id) === 1) this.#stop(call);
      return;
    }
    const reason = this.#ended.has(callId) ? COMPLETED : 'Operation not found';
    return this.#answer('capabilities/cancel-result', id, answerTo(callId, this.#ended.get(callId), reason));
  }

  /** @param {Call} call */
  #stop({ invocation, callId, cancels }) {
    if (!invocation) return;
    this.devTools.send('WebMCP.cancelInvocation', { invocationId: invocation }).catch((error) => {
      const failed = problem('OPERATION_FAILED', `The browser does not cancel it: ${error?.message ?? error}`);
      for (const id of cancels.splice(0)) this.#answer('capabilities/cancel-result', id, cancelResponse(callId, failed.message, failed));
    });
  }

  #cancelAll() {
    for (const call of this.#calls.values()) {
      const { invocation } = call;
      call.unwanted = true;
      // An invocation that can no longer be cancelled has ended.
      if (invocation) this.devTools.send('WebMCP.cancelInvocation', { invocationId: invocation }).catch(() => {});
    }
  }

  /** A document is gone, with its tools and their work. The browser does not report that. @param {string} frame */
  #leftBehind(frame) {
    for (const call of [...this.#calls.values()]) {
      if (call.frameId === frame) this.#settle(call, failure('DISCONNECTED', 'The frame is gone'));
    }
    this.#changed([], [...this.#tools].map(([name]) => ({ name, frameId: frame })));
  }

  /** @param {any} event */
  #responded(event) {
    const call = this.#invocations.get(event.invocationId);
    this.#early.delete(event.invocationId);
    if (call) this.#settle(call, outcomeOf(event));
    else if ([...this.#calls.values()].some(({ invocation }) => !invocation)) this.#early.set(event.invocationId, event);
  }

  /** @param {Call} call @param {any} response */
  #settle({ id, callId, invocation, cancels }, response) {
    if (!this.#calls.delete(callId)) return;
    if (invocation) this.#invocations.delete(invocation);
    if (this.#calls.size === 0) this.#early.clear();
    const stop = response.cancelled ? response.metadata.stop : undefined;
    this.#ended.set(callId, stop);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > REMEMBERED && oldest !== undefined) this.#ended.delete(oldest);
    const confirmation = answerTo(callId, stop, COMPLETED);
    for (const cancel of cancels.splice(0)) this.#answer('capabilities/cancel-result', cancel, confirmation);
    this.#answer('capabilities/call-result', id, response);
    this.#mayLeave();
  }

  #mayLeave() {
    if (this.#leaving !== undefined && this.#calls.size === 0) this.#answer('shutdown-result', this.#leaving, {});
  }

  /** @param {string} type @param {unknown} id @param {any} payload */
  #answer(type, id, payload) {
    this.onmessage?.({ type, id, timestamp: Date.now(), payload });
  }

  /** @param {string} type @param {any} payload */
  #say(type, payload) {
    this.onmessage?.({ type, timestamp: Date.now(), payload });
  }
}

const COMPLETED = 'Operation already completed';

/**
 * @param {string} callId
 * @param {string | undefined} stop how far it was seen
 * @param {string} reason why the call was not cancelled, if there is no stop
 */
const answerTo = (callId, stop, reason) => (stop ? cancelConfirmation(callId, stop) : cancelResponse(callId, reason));

/**
 * @param {any} page
 * @returns {Promise<DevTools | undefined>} undefined if the browser has none
 */
export async function openDevTools(page) {
  /** @type {DevTools | undefined} */
  let session;
  try {
    session = await (page.createCDPSession ? page.createCDPSession() : page.context().newCDPSession(page));
    await session?.send('Page.enable');
    return session;
  } catch {
    await session?.detach().catch(() => {});
    return undefined;
  }
}

/**
 * The browser's result of an invocation, as an ABPResponse.
 *
 * @param {{ status: string, output?: any, errorText?: string, exception?: { description?: string } }} event `WebMCP.toolResponded`
 * @returns {{ success: boolean, data?: any, error?: any, cancelled?: boolean }}
 */
function outcomeOf({ status, output, errorText, exception }) {
  // The browser tells the tool about the cancel, and does not wait.
  if (status === 'Canceled') return cancelled('abandoned');
  if (status !== 'Completed') return failure('OPERATION_FAILED', messageOf(exception) || errorText || 'The tool failed');
  if (!Array.isArray(output?.content)) return { success: true, data: output };
  const text = output.content.map((/** @type {any} */ part) => part?.text ?? '').join('\n');
  if (output.isError) {
    const error = output._meta?.['caphost/error'];
    if (error?.code === 'CANCELLED') return cancelled(output._meta['caphost/stop'] ?? 'abandoned');
    return error ? { success: false, error } : failure('OPERATION_FAILED', text || 'The tool failed');
  }
  if (output.structuredContent !== undefined) return { success: true, data: output.structuredContent };
  const onlyText = output.content.length > 0 && output.content.every((/** @type {any} */ part) => part?.type === 'text');
  return { success: true, data: onlyText ? text : output };
}

/**
 * The message of a thrown error. The browser puts the error's name before the message and the stack
 * after it.
 *
 * @param {{ description?: string } | undefined} exception
 */
function messageOf(exception) {
  const [described = ''] = (exception?.description ?? '').split(/\n\s+at /);
  return described.replace(/^(\w*Error): /, '');
}
