/**
 * Bytes in a capability's data, as MCP content.
 *
 * The files are those that the gateway finds (`gateway/src/wire/binary.rs` has the rule), by the same
 * vectors. The bytes of a file are sent only once, in a content block of their own. A JSON Pointer to that
 * block in the result replaces them in the data: a model should not have to read text that may be large.
 *
 * Only the image types that model interfaces accept are `image`. An image of another type, such as SVG
 * or TIFF, would end the conversation that shows it. It becomes an embedded resource, like any other
 * file. So would an image under the name of another type, so the bytes decide on the type.
 */
import { isObject } from './message.js';

/** The image types that model interfaces accept, and how the base64 of such an image begins. @type {[string, RegExp][]} */
const IMAGES = [['image/png', /^iVBORw0KGgo/], ['image/jpeg', /^\/9j\//], ['image/gif', /^R0lGODdh|^R0lGODlh/], ['image/webp', /^UklGR.{6}XRUJQ/]];

/**
 * Takes the bytes out of `data`, which is changed in place. The first of their blocks will be at index
 * `first` of the result's `content`.
 *
 * @param {any} data JSON
 * @param {number} first
 * @param {{ audio: boolean }} version
 * @param {string} callId
 * @returns {any[]} the blocks
 */
export function extract(data, first, version, callId) {
  /** @type {any[]} */
  const blocks = [];
  /** @param {any} value @param {any} [around] the `mimeType` of the object around it */
  const visit = (value, around) => {
    if (typeof value !== 'object' || value === null) return;
    if (isObject(value)) take(value, around, first, version, callId, blocks);
    const type = typeof value.mimeType === 'string' ? value.mimeType : around;
    for (const inner of Object.values(value)) visit(inner, type);
  };
  visit(data);
  return blocks;
}

/**
 * The members that may hold the bytes of a file of that type, the likeliest first: `png` and `image` of
 * `image/png`, and plain names if the file has an `encoding`. Without one, a member named after `text/…`
 * is the text itself.
 *
 * @param {unknown} mime
 * @param {boolean} declared it has an `encoding`
 * @returns {string[]}
 */
export function contentNames(mime, declared) {
  const [, kind = '', subtype = ''] = /^\s*([\w!#$&^.+-]+)\/([\w!#$&^.+-]+)\s*(?:;|$)/.exec(String(mime).toLowerCase()) ?? [];
  return [...(declared ? ['content', 'data'] : []), ...(kind && (declared || kind !== 'text') ? [subtype, kind] : [])];
}

/**
 * @param {any} members
 * @param {string | undefined} around
 * @param {number} first
 * @param {{ audio: boolean }} version
 * @param {string} callId
 * @param {any[]} blocks
 */
function take(members, around, first, version, callId, blocks) {
  const { encoding, filename } = members;
  const declared = encoding === 'base64';
  const mimeType = members.mimeType === undefined && declared ? around : members.mimeType;
  if ((!declared && encoding !== undefined) || !['string', declared && 'undefined'].includes(typeof mimeType)) return;
  const name = contentNames(mimeType, declared).find((it) => Object.hasOwn(members, it) && canonical(members[it]) !== undefined);
  const base64 = name && canonical(members[name]);
  if (!name || !base64) return;
  const index = first + blocks.length;
  const essence = mimeType?.replace(/;.*/s, '').trim().toLowerCase();
  const [image] = essence?.startsWith('image/') ? IMAGES.find(([, begins]) => begins.test(base64)) ?? IMAGES.find(([type]) => type === essence) ?? [] : [];
  const kind = image ? 'image' : version.audio && essence?.startsWith('audio/') ? 'audio' : undefined;
  const uri = () => `caphost://${callId}/${index}/${encodeURIComponent(typeof filename === 'string' ? filename : name)}`;
  blocks.push(kind ? { type: kind, data: base64, mimeType: image ?? essence } : { type: 'resource', resource: { uri: uri(), ...(mimeType !== undefined && { mimeType }), blob: base64 } });
  members[name] = `#/content/${index}/${kind ? 'data' : 'resource/blob'}`;
}

/**
 * Base64 of the standard alphabet, padded and on one line, as clients require.
 *
 * @param {unknown} text
 * @returns {string | undefined} undefined if it is no base64
 */
function canonical(text) {
  if (typeof text !== 'string') return undefined;
  const [, digits] = /^([A-Za-z0-9+/]*)={0,2}$/.exec(text.replace(/[ \t\n\f\r]+/g, '')) ?? [];
  return digits === undefined || digits.length % 4 === 1 ? undefined : digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}
