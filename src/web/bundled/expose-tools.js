// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/webmcp/expose-tools.js
function exposeTools(shell, browser, loaded) {
  const { requests, log } = loaded;
  const agent = { name: "WebMCP", version: "1" };
  const features = { notifications: false, progress: false, elicitation: false };
  void requests.request("initialize", { agent, protocolVersion: "0.1", features });
  const tools = /* @__PURE__ */ new Map();
  const update = () => {
    const documents = new Map(shell.capabilities.documents().filter((it) => it.available).map((it) => [it.name, it]));
    const names = toolNames([...documents.keys()], log);
    for (const [name, { document, remove }] of tools) {
      if (documents.get(names.get(name) ?? "") === document) continue;
      tools.delete(name);
      remove();
    }
    for (const [name, capability] of names) {
      const document = documents.get(capability);
      if (!tools.has(name)) tools.set(name, { document, remove: register(browser, tool(loaded, name, document), log) });
    }
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
function tool({ requests, underSignal, ids, toText }, name, { name: capability, title, description, annotations, inputSchema }) {
  return {
    name,
    ...title && { title },
    description: description || title || capability,
    ...annotations && { annotations },
    inputSchema: typeof inputSchema === "object" && inputSchema !== null ? { type: "object", ...inputSchema } : { type: "object" },
    /** @param {object} params @param {{ signal?: AbortSignal }} [context] absent in older browsers */
    execute: async (params, context) => {
      const callId = ids.next();
      const response = await underSignal(
        context?.signal,
        (reason) => void requests.request("capabilities/cancel", { callId, reason }),
        (aborted) => requests.request("capabilities/call", { capability, params: params ?? {}, options: { callId } }, void 0, aborted)
      );
      return toolResult(response, toText);
    }
  };
}
function register(browser, tool2, log) {
  if (!browser.registerTool) return () => {
  };
  const registration = new AbortController();
  const refused = (error) => {
    if (!registration.signal.aborted) log("warn", `the browser takes no tool ${tool2.name}:`, error);
  };
  let registered;
  try {
    registered = browser.registerTool(tool2, { signal: registration.signal });
  } catch (error) {
    refused(error);
    return () => {
    };
  }
  registered?.then?.(void 0, refused);
  return () => {
    registration.abort();
    if (registered?.unregister) registered.unregister();
    else browser.unregisterTool?.(tool2.name);
  };
}
var FIT = /^[A-Za-z0-9_.-]{1,128}$/;
function toolNames(names, log) {
  const claims = /* @__PURE__ */ new Map();
  for (const name of names) {
    const tool2 = FIT.test(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 128);
    claims.set(tool2, [...claims.get(tool2) ?? [], name]);
  }
  const found = /* @__PURE__ */ new Map();
  for (const [tool2, [name, ...others]] of claims) {
    if (others.length > 0) log("warn", `${[name, ...others].join(" and ")} are no tools: both would be ${tool2}`);
    else if (name !== void 0) found.set(tool2, name);
  }
  return found;
}
function toolResult({ success, data, error, cancelled, metadata }, toText) {
  if (cancelled) {
    const { _meta, ...result } = failed({ code: "CANCELLED", message: "The call was cancelled", retryable: false });
    const seen = Object.entries({ ...metadata }).map(([name, value]) => [`caphost/${name}`, value]);
    return { ...result, _meta: { ..._meta, ...Object.fromEntries(seen) } };
  }
  if (!success) return failed(error);
  if (data === void 0) return { content: [] };
  let text;
  try {
    text = toText(data);
  } catch (thrown) {
    return failed({ code: "OPERATION_FAILED", message: `The capability returned data that cannot be sent: ${thrown}`, retryable: false });
  }
  const plain = JSON.parse(text);
  return {
    content: [{ type: "text", text: typeof plain === "string" ? plain : text }],
    ...typeof plain === "object" && plain !== null && !Array.isArray(plain) && { structuredContent: plain }
  };
}
var failed = (error) => ({
  content: [{ type: "text", text: `${error.code}: ${error.message}` }],
  isError: true,
  // The whole ABPError, for clients that know it.
  _meta: { "caphost/error": error }
});
export {
  exposeTools
};
