/**
 * A host's capabilities as tools of the browser: WebMCP.
 */

/**
 * Functions that the page has already loaded: if this module imported them, a bundler would split them
 * off from the rest, at a cost for every page.
 *
 * @typedef {object} Loaded
 * @property {import('../requests.js').Requests} requests
 * @property {typeof import('../signal.js').underSignal} underSignal
 * @property {import('../shell.js').Shell['ids']} ids
 * @property {typeof import('../json.js').toText} toText
 * @property {typeof import('../errors.js').log} log
 */

/**
 * Registers each capability as a tool, including capabilities that are registered later.
 *
 * @param {import('../shell.js').Shell} shell
 * @param {any} browser its `modelContext`
 * @param {Loaded} loaded
 * @returns {() => void} removes the tools
 */
export function exposeTools(shell, browser, loaded) {
  const { requests, log } = loaded;
  const agent = { name: 'WebMCP', version: '1' };
  const features = { notifications: false, progress: false, elicitation: false };
  void requests.request('initialize', { agent, protocolVersion: '0.1', features });

  /** @type {Map<string, { document: any, remove: () => void }>} by the name of the tool */
  const tools = new Map();
  const update = () => {
    const documents = new Map(shell.capabilities.documents().filter((it) => it.available).map((it) => [it.name, it]));
    const names = toolNames([...documents.keys()], log);
    for (const [name, { document, remove }] of tools) {
      if (documents.get(names.get(name) ?? '') === document) continue;
      tools.delete(name);
      remove();
    }
    for (const [name, capability] of names) {
      const document = documents.get(capability);
      if (!tools.has(name)) tools.set(name, { document, remove: register(browser, tool(loaded, name, document), log) });
    }
    // An older form of the API takes all tools at once.
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
function tool({ requests, underSignal, ids, toText }, name, { name: capability, title, description, annotations, inputSchema }) {
  return {
    name,
    ...(title && { title }),
    description: description || title || capability,
    ...(annotations && { annotations }),
    inputSchema: typeof inputSchema === 'object' && inputSchema !== null ? { type: 'object', ...inputSchema } : { type: 'object' },
    /** @param {object} params @param {{ signal?: AbortSignal }} [context] absent in older browsers */
    execute: async (params, context) => {
      const callId = ids.next();
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
 * @param {Loaded['log']} log
 * @returns {() => void} removes the tool
 */
function register(browser, tool, log) {
  if (!browser.registerTool) return () => {};
  const registration = new AbortController();
  /** @param {unknown} error */
  const refused = (error) => {
    if (!registration.signal.aborted) log('warn', `the browser takes no tool ${tool.name}:`, error);
  };
  /** @type {any} */
  let registered;
  try {
    // The browser returns a promise, or a handle in older browsers, or nothing in still older browsers.
    registered = browser.registerTool(tool, { signal: registration.signal });
  } catch (error) {
    refused(error);
    // The browser may have a tool of that name that is not ours.
    return () => {};
  }
  registered?.then?.(undefined, refused);
  return () => {
    registration.abort();
    if (registered?.unregister) registered.unregister();
    else browser.unregisterTool?.(tool.name);
  };
}

/** A name that the browser accepts. */
const FIT = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * The names of tools for the names of capabilities: the same name if the browser accepts it. Otherwise
 * `_` replaces every character that the browser does not accept. If two names become equal, a warning
 * says so, and neither capability becomes a tool.
 *
 * @param {string[]} names
 * @param {Loaded['log']} log
 * @returns {Map<string, string>} the tool's name to the capability's
 */
function toolNames(names, log) {
  /** @type {Map<string, string[]>} */
  const claims = new Map();
  for (const name of names) {
    const tool = FIT.test(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 128);
    claims.set(tool, [...(claims.get(tool) ?? []), name]);
  }
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const [tool, [name, ...others]] of claims) {
    if (others.length > 0) log('warn', `${[name, ...others].join(' and ')} are no tools: both would be ${tool}`);
    else if (name !== undefined) found.set(tool, name);
  }
  return found;
}

/**
 * The end of a call, in the form of a tool's result: the shape of MCP's `CallToolResult`. The message
 * of a tool that throws is lost on the way, so errors are also results.
 *
 * @param {{ success: boolean, data?: any, error?: any, cancelled?: boolean, metadata?: { stop?: string, step?: string, took?: number } }} response an ABPResponse
 * @param {(data: unknown) => string} toText
 */
function toolResult({ success, data, error, cancelled, metadata }, toText) {
  if (cancelled) {
    const { _meta, ...result } = failed({ code: 'CANCELLED', message: 'The call was cancelled', retryable: false });
    const seen = Object.entries({ ...metadata }).map(([name, value]) => [`caphost/${name}`, value]);
    return { ...result, _meta: { ..._meta, ...Object.fromEntries(seen) } };
  }
  if (!success) return failed(error);
  if (data === undefined) return { content: [] };
  let text;
  try {
    // Values that JSON cannot express, such as an ArrayBuffer, are written as in an envelope on the
    // wire.
    text = toText(data);
  } catch (thrown) {
    return failed({ code: 'OPERATION_FAILED', message: `The capability returned data that cannot be sent: ${thrown}`, retryable: false });
  }
  const plain = JSON.parse(text);
  return {
    content: [{ type: 'text', text: typeof plain === 'string' ? plain : text }],
    ...(typeof plain === 'object' && plain !== null && !Array.isArray(plain) && { structuredContent: plain }),
  };
}

/** @param {any} error an ABPError */
const failed = (error) => ({
  content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
  isError: true,
  // The whole ABPError, for clients that know it.
  _meta: { 'caphost/error': error },
});
