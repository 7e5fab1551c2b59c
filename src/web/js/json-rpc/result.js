/**
 * The progress and the end of a call, in the form of MCP. `gateway/src/fronts/mcp/result.rs` does the
 * same, by the same vectors.
 */
import { extract } from './content.js';
import { isObject } from './message.js';

/** @param {string} text */
const asText = (text) => ({ type: 'text', text });

/**
 * The result of a call that succeeded.
 *
 * @param {any} data JSON, which is changed
 * @param {any} metadata
 * @param {boolean} promised the tool has an output schema, so clients insist on structured content; without one
 *   they have none beside files, as some show the model nothing else then
 * @param {{ audio: boolean, structure: boolean }} version
 * @param {string} callId
 * @param {(data: any) => string} [toText] JSON
 */
export function done(data = null, metadata, promised, version, callId, toText = JSON.stringify) {
  const keeps = isObject(data) || !promised;
  const holder = { data };
  // If the data break the tool's promise, the error comes first.
  const files = extract(holder, keeps ? 1 : 2, version, callId);
  const said = data === null ? '' : typeof data === 'string' ? data : toText(data);
  // A model interface refuses an empty block of text.
  const content = [...(/[^\s\x85]/.test(said) ? [asText(said)] : []), ...files];
  const structured = version.structure && isObject(data) && (promised || !files.length);
  if (keeps) {
    return {
      content,
      ...(structured && { structuredContent: data }),
      isError: false,
      _meta: { 'caphost/callId': callId, ...(metadata && { 'caphost/metadata': metadata }) },
    };
  }
  const message = "The app's answer is not the object its outputSchema promises";
  const broken = failed({ code: 'INTERNAL_ERROR', message, retryable: false });
  return { ...broken, content: [...broken.content, ...content] };
}

/** The result of a failed call: the model reads what went wrong. @param {any} error an ABPError */
export const failed = (error) => ({
  content: [asText(`${error.code}: ${error.message}`)],
  isError: true,
  _meta: { 'caphost/error': error },
});

/** Our own members, as in `_meta`. @param {object} members */
export const inMeta = (members) => Object.fromEntries(Object.entries(members).map(([name, value]) => [`caphost/${name}`, value]));

/**
 * Turns the ProgressInfos of one call into notifications for its token. Returns no notification if
 * nothing has advanced, because progress must increase in MCP.
 *
 * @param {unknown} token
 * @param {{ audio: boolean }} version
 * @returns {((info: any) => { method: string, params: any } | undefined) | undefined}
 */
export function progressReader(token, version) {
  if (typeof token !== 'string' && typeof token !== 'number') return undefined;
  let last = -Infinity;
  return (info) => {
    const own = typeof info?.progress === 'number';
    const progress = own ? info.progress : info?.percentage;
    if (typeof progress !== 'number' || progress <= last) return undefined;
    last = progress;
    const total = own ? info.total : 100;
    const message = version.audio ? [info.status, info.stage].find((it) => typeof it === 'string') : undefined;
    return {
      method: 'notifications/progress',
      params: { progressToken: token, progress, ...(typeof total === 'number' && { total }), ...(message !== undefined && { message }) },
    };
  };
}
