/**
 * The tools (WebMCP) of a page that has no `window.abp`. A host in this process has them as its
 * capabilities, and its handlers invoke them through the browser's DevTools. So the rules of a call
 * are the host's.
 */
import { CAPABILITIES_CHANGED } from '../events.js';
import { abpError, problem, text } from '../errors.js';
import { asJson } from '../json.js';
import { portMessenger } from '../agent-port.js';
import { openDevTools } from './dev-tools.js';
import { Invocation } from './invocation.js';

/** @import { Host } from '../host.js' */
/** @import { Context } from '../running.js' */
/** @import { DevTools } from './dev-tools.js' */

const OPTIONS = {
  app: { id: 'webmcp', name: 'WebMCP', version: '1' },
  // The agent is in the same program, so nobody is to be protected from it.
  maxInFlight: Infinity,
  maxInFlightBytes: Infinity,
  maxMessageBytes: Infinity,
  maxRequestsPerSecond: Infinity,
  // The host waits for the browser. If the browser does not answer, the agent says so.
  settleGrace: 86_400_000,
};

export class PageTools {
  /** @type {((envelope: any) => void) | undefined} */
  onmessage = undefined;
  /** @type {((error?: Error) => void) | undefined} */
  onclose = undefined;
  /** Called with the reason why a cancelled tool goes on, and without one when it has ended. @type {((why?: string) => void) | undefined} */
  onrefusal = undefined;
  /** The frames of the tools, by the names of the tools. @type {Map<string, string>} */
  #frames = new Map();
  /** @type {Set<Invocation>} */
  #running = new Set();
  /** The invocations by the browser's ids. @type {Map<string, Invocation>} */
  #named = new Map();
  /** The results of invocations whose ids were not known yet, by these ids. @type {Map<string, any>} */
  #early = new Map();
  #devTools;
  #host;
  #agent;

  /**
   * @param {DevTools} devTools
   * @param {Host} host
   */
  constructor(devTools, host) {
    this.#devTools = devTools;
    this.#host = host;
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    this.#agent = portMessenger(port2, true);
    this.#agent.onmessage = (envelope) => this.onmessage?.(ofTools(envelope));
    devTools.on('WebMCP.toolsAdded', ({ tools }) => this.#add(tools));
    devTools.on('WebMCP.toolsRemoved', ({ tools }) => this.#remove(tools));
    devTools.on('WebMCP.toolResponded', (event) => this.#end(event));
    devTools.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId) this.#lose(frame.id);
      else this.onclose?.(abpError('DISCONNECTED', 'The page is gone'));
    });
    devTools.on('Page.frameDetached', ({ frameId }) => this.#lose(frameId));
  }

  /**
   * @param {any} page of Puppeteer or Playwright
   * @param {(options: object) => Promise<Host>} createHost
   * @returns {Promise<PageTools | undefined>} undefined if there are no tools
   */
  static async open(page, createHost) {
    const devTools = await openDevTools(page);
    if (!devTools) return undefined;
    const tools = new PageTools(devTools, await createHost(OPTIONS));
    try {
      await devTools.send('Page.enable');
      await devTools.send('WebMCP.enable');
      // The existing tools are reported as events.
      await devTools.send('Page.getFrameTree');
      if (tools.#frames.size > 0) return tools;
    } catch {
      // The browser has no tools.
    }
    tools.close();
    return undefined;
  }

  /** @param {import('../messenger.js').Envelope} envelope */
  post(envelope) {
    this.#agent.post(asJson(envelope));
  }

  /** The host cancels what runs, because nobody waits for it. */
  close() {
    this.onmessage = this.onclose = this.onrefusal = undefined;
    this.#agent.close();
    const begun = [...this.#running].map((it) => it.begun);
    this.#host.close();
    // An invocation without an id yet is cancelled when it gets one.
    void Promise.allSettled(begun).then(() => this.#devTools.detach()).catch(() => {});
  }

  /** @param {any[]} tools as the browser describes them */
  #add(tools) {
    for (const { name, frameId, description = '', inputSchema } of tools) {
      // If two frames have tools of the same name, the first frame's tool counts.
      if (this.#frames.has(name)) continue;
      this.#frames.set(name, frameId);
      /** @param {object} params @param {Context} context */
      const handler = (params, context) => this.#invoke(name, frameId, params, context);
      try {
        this.#host.register(name, { description, ...(inputSchema && { inputSchema }) }, handler);
      } catch {
        // The page has a schema that is not valid, so the tool itself judges its parameters.
        this.#host.register(name, { description }, handler);
      }
    }
  }

  /** @param {{ name: string, frameId: string }[]} tools */
  #remove(tools) {
    for (const { name, frameId } of tools) {
      if (this.#frames.get(name) !== frameId) continue;
      this.#frames.delete(name);
      this.#host.unregister(name);
    }
  }

  /**
   * @param {string} toolName
   * @param {string} frameId
   * @param {object} input
   * @param {Context} context
   * @returns {Promise<unknown>} the data of the tool
   */
  #invoke(toolName, frameId, input, context) {
    const { rust, number } = this.#host.shell;
    return new Promise((resolve, reject) => {
      const invocation = new Invocation({
        frameId,
        isStopped: () => context.stopped,
        cancel: (invocationId) => this.#devTools.send('WebMCP.cancelInvocation', { invocationId }),
        refused: (why) => this.onrefusal?.(`The browser does not cancel the tool "${toolName}": ${why}`),
        stopped: (seen) => void rust.stoppedAtPeer(number, context.key, seen),
        over: () => this.#forget(invocation),
        resolve,
        reject,
      });
      context.ender = { stop: () => invocation.stop(), terminate: () => {} };
      this.#running.add(invocation);
      const invoked = this.#devTools.send('WebMCP.invokeTool', { frameId, toolName, input });
      invocation.begun = invoked.then(
        ({ invocationId }) => this.#name(invocation, invocationId),
        (error) => invocation.fail(problem('OPERATION_FAILED', `The tool cannot be invoked: ${text(error)}`)),
      );
    });
  }

  /** @param {Invocation} invocation @param {string} id the browser's */
  #name(invocation, id) {
    if (!this.#running.has(invocation)) return;
    this.#named.set(id, invocation);
    invocation.named(id);
    const early = this.#early.get(id);
    if (early) this.#end(early);
  }

  /** @param {any} event `WebMCP.toolResponded` */
  #end(event) {
    const invocation = this.#named.get(event.invocationId);
    if (invocation) invocation.end(event);
    // Others invoke tools as well.
    else if (this.#running.size > this.#named.size) this.#early.set(event.invocationId, event);
  }

  /** @param {Invocation} invocation */
  #forget(invocation) {
    this.#running.delete(invocation);
    if (invocation.refused) this.onrefusal?.();
    if (invocation.id !== undefined) this.#named.delete(invocation.id);
    if (this.#running.size === this.#named.size) this.#early.clear();
  }

  /** A document is gone, with its tools and their work. The browser does not report that. @param {string} frame */
  #lose(frame) {
    for (const invocation of [...this.#running]) {
      if (invocation.frameId === frame) invocation.fail(problem('DISCONNECTED', 'The frame is gone'));
    }
    this.#remove([...this.#frames.keys()].map((name) => ({ name, frameId: frame })));
  }
}

/**
 * A message of the host, without the members that do not hold for tools.
 *
 * @param {{ type: string, payload: any }} envelope
 */
function ofTools(envelope) {
  const { type, payload } = envelope;
  // Tools neither report progress nor ask questions.
  if (type === 'initialize-result' && payload.features) Object.assign(payload.features, { progress: false, elicitation: false });
  // The host has measured the way to the page as well.
  else if (type === 'capabilities/call-result' && !payload.cancelled) delete payload.metadata;
  else if (type === 'notification' && payload.event === CAPABILITIES_CHANGED && payload.data.changed.length === 0) delete payload.data.changed;
  return envelope;
}
