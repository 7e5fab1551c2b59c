/**
 * A host's capabilities as tools of the browser: WebMCP.
 */
import { toolNames } from './tool-names.js';
import { toolResult } from './tool-result.js';

/**
 * What a page has loaded already when it loads this: imported from here it would be split off from
 * the rest, and every page would pay for that.
 *
 * @typedef {object} Loaded
 * @property {import('../requests.js').Requests} requests
 * @property {typeof import('../signal.js').underSignal} underSignal
 * @property {typeof import('../platform.js').newId} newId
 * @property {typeof import('../json.js').toText} toText
 */

/**
 * Registers each capability, and follows what is registered later.
 *
 * @param {import('../shell.js').Shell} shell
 * @param {any} browser its `modelContext`
 * @param {Loaded} loaded
 * @returns {() => void} takes them away again
 */
export function exposeTools(shell, browser, loaded) {
  const { requests } = loaded;
  const agent = { name: 'WebMCP', version: '1' };
  const features = { notifications: false, progress: false, elicitation: false };
  void requests.request('initialize', { agent, protocolVersion: '0.1', features });

  /** @type {Map<string, { document: any, remove: () => void }>} by the name of the tool */
  const tools = new Map();
  const update = () => {
    const documents = new Map(shell.capabilities.documents().filter((it) => it.available).map((it) => [it.name, it]));
    const names = toolNames([...documents.keys()]);
    for (const [name, { document, remove }] of tools) {
      if (documents.get(names.get(name) ?? '') === document) continue;
      tools.delete(name);
      remove();
    }
    for (const [name, capability] of names) {
      const document = documents.get(capability);
      if (!tools.has(name)) tools.set(name, { document, remove: register(browser, tool(loaded, name, document)) });
    }
    // An older shape takes all of them at once.
    if (!browser.registerTool) browser.provideContext?.({ tools: [...tools].map(([name, { document }]) => tool(loaded, name, document)) });
  };
  update();
  const stop = shell.capabilities.onChanged(update);
  return () => {
    stop();
    for (const { remove } of tools.values()) remove();
    if (!browser.registerTool) browser.provideContext?.({ tools: [] });
    requests.connection.close();
  };
}

/**
 * @param {Loaded} loaded
 * @param {string} name
 * @param {any} document the Capability object
 */
function tool({ requests, underSignal, newId, toText }, name, { name: capability, description, inputSchema }) {
  return {
    name,
    description: description || capability,
    inputSchema: typeof inputSchema === 'object' && inputSchema !== null ? { type: 'object', ...inputSchema } : { type: 'object' },
    /** @param {object} params @param {{ signal?: AbortSignal }} [context] absent in older browsers */
    execute: async (params, context) => {
      const callId = newId();
      const response = await underSignal(
        context?.signal,
        (reason) => void requests.request('capabilities/cancel', { callId, reason }),
        (aborted) => requests.request('capabilities/call', { capability, params: params ?? {}, options: { callId } }, undefined, aborted),
      );
      return toolResult(response, toText);
    },
  };
}

/**
 * @param {any} browser
 * @param {{ name: string }} tool
 * @returns {() => void} takes it away again
 */
function register(browser, tool) {
  if (!browser.registerTool) return () => {};
  const registration = new AbortController();
  /** @param {unknown} error */
  const refused = (error) => {
    if (!registration.signal.aborted) console.warn(`caphost: the browser takes no tool ${tool.name}:`, error);
  };
  /** @type {any} */
  let registered;
  try {
    // A promise, a handle in older browsers, or nothing in still older ones.
    registered = browser.registerTool(tool, { signal: registration.signal });
  } catch (error) {
    refused(error);
    // Of that name there may be one that is not ours.
    return () => {};
  }
  registered?.then?.(undefined, refused);
  return () => {
    registration.abort();
    if (registered?.unregister) registered.unregister();
    else browser.unregisterTool?.(tool.name);
  };
}
