/**
 * The app that one writes by hand from the protocol's document: a Map with an AbortController per
 * call. The callId is a UUID unless the agent gives one. The sample forgets a call when it ends,
 * confirms a cancel without waiting for the handler, and does not copy parameters.
 *
 * @param {Record<string, import('./handlers.mjs').Handler>} handlers
 */
export function publishedSample(handlers) {
  /** @type {Map<string, AbortController>} */
  const calls = new Map();
  const capabilities = new Map(Object.entries(handlers));
  /** @type {string | null} */
  let sessionId = null;

  return {
    async initialize() {
      sessionId = crypto.randomUUID();
      return { sessionId, protocolVersion: '0.1', capabilities: [...capabilities.keys()].map((name) => ({ name, available: true })) };
    },

    /**
     * @param {string} name
     * @param {any} [params]
     * @param {{ callId?: string | undefined, signal?: AbortSignal | undefined, timeout?: number | undefined }} [options]
     */
    async call(name, params, { callId = crypto.randomUUID(), signal, timeout } = {}) {
      if (sessionId === null) return failure('NOT_INITIALIZED', 'There is no session');
      const handler = capabilities.get(name);
      if (handler === undefined) return failure('UNKNOWN_CAPABILITY', name);
      const controller = new AbortController();
      const abort = () => controller.abort();
      calls.set(callId, controller);
      signal?.addEventListener('abort', abort, { once: true });
      const timer = timeout === undefined ? undefined : setTimeout(abort, timeout);
      try {
        return { success: true, data: await handler(params, { signal: controller.signal }) };
      } catch (error) {
        if (controller.signal.aborted) return { success: false, cancelled: true };
        return failure('OPERATION_FAILED', String(error));
      } finally {
        calls.delete(callId);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },

    /** @param {string} callId */
    async cancel(callId) {
      const controller = calls.get(callId);
      if (controller === undefined) return { callId, cancelled: false, reason: 'Operation not found' };
      controller.abort();
      return { callId, cancelled: true };
    },
  };
}

/** @param {string} code @param {string} message */
const failure = (code, message) => ({ success: false, error: { code, message, retryable: false } });
