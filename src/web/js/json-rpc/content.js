/**
 * Bytes in a capability's data, as MCP content.
 *
 * Bytes are base64 text beside a `mimeType`. They stand in `content`, with `encoding: "base64"`, or
 * under a name that describes them, such as `image` of `image/png` or `pdf` of `application/pdf`. They
 * are sent only once, in a content block of their own. A JSON Pointer to that block in the result
 * replaces them in the data: a model should not have to read text that may be large.
 *
 * Only the image types that model interfaces accept are `image`. An image of another type, such as SVG
 * or TIFF, would end the conversation that shows it. It becomes an embedded resource, like any other
 * file.
 */
import { isObject } from './message.js';

/** The image types that model interfaces accept. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

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
  const visit = (/** @type {any} */ value) => {
    if (isObject(value)) take(value, first, version, callId, blocks);
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(data);
  return blocks;
}

/**
 * The names under which bytes of that type may be: `image` and `png` of `image/png`.
 *
 * @param {string} mime
 */
export const kindNames = (mime) => split(mime) ?? [];

/**
 * @param {any} members
 * @param {number} first
 * @param {{ audio: boolean }} version
 * @param {string} callId
 * @param {any[]} blocks
 */
function take(members, first, version, callId, blocks) {
  const { mimeType, encoding, filename } = members;
  if (typeof mimeType !== 'string' || (encoding !== undefined && encoding !== 'base64')) return;
  const names = [...(encoding === undefined ? [] : ['content']), ...kindNames(mimeType)];
  const name = names.find((it) => Object.hasOwn(members, it) && typeof members[it] === 'string');
  const base64 = name && canonical(members[name]);
  if (!name || !base64) return;
  const index = first + blocks.length;
  const essence = mimeType.replace(/;.*/s, '').trim().toLowerCase();
  const kind = IMAGES.includes(essence) ? 'image' : version.audio && essence.startsWith('audio/') ? 'audio' : undefined;
  const uri = () => `caphost://${callId}/${index}/${encodeURIComponent(typeof filename === 'string' ? filename : name)}`;
  blocks.push(kind ? { type: kind, data: base64, mimeType: essence } : { type: 'resource', resource: { uri: uri(), mimeType, blob: base64 } });
  members[name] = `#/content/${index}/${kind ? 'data' : 'resource/blob'}`;
}

/** `type` and `subtype`, if both are tokens. @param {string} mime */
const split = (mime) => /^\s*([\w!#$&^.+-]+)\/([\w!#$&^.+-]+)\s*(?:;|$)/.exec(mime)?.slice(1);

/**
 * Base64 of the standard alphabet, padded and on one line, as clients require.
 *
 * @param {string} text
 * @returns {string | undefined} undefined if it is no base64
 */
function canonical(text) {
  const clean = text.replace(/[ \t\n\f\r]+/g, '');
  const [, digits = ''] = /^([A-Za-z0-9+/]+)={0,2}$/.exec(clean) ?? [];
  return digits && digits.length % 4 !== 1 ? digits.padEnd(Math.ceil(digits.length / 4) * 4, '=') : undefined;
}
