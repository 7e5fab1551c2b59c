/**
 * Bytes in a capability's data, as MCP content.
 *
 * Bytes are base64 text beside a `mimeType`: as `content`, with `encoding: "base64"`, or under the
 * name of what they are, such as `image` of `image/png` or `pdf` of `application/pdf`. They are
 * given once, in a content block of their own, and where they stood there is a JSON Pointer to that
 * block in the result: text that may be large has no place in what a model reads.
 *
 * Only images that model interfaces take are `image`: one of another type, such as SVG or TIFF, ends the
 * conversation that it is shown in. It is an embedded resource, as any other file is.
 */
import { isObject } from './message.js';

/** The images that model interfaces take. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/**
 * Takes the bytes out of `data`, which is changed in place. The first of their blocks will stand at
 * index `first` of the result's `content`.
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
 * The names under which bytes of that type may stand: `image` and `png` of `image/png`.
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
 * Base64 of the standard alphabet, padded and in one line, as clients insist on.
 *
 * @param {string} text
 * @returns {string | undefined} undefined if it is no base64
 */
function canonical(text) {
  const clean = text.replace(/[ \t\n\f\r]+/g, '');
  const [, digits = ''] = /^([A-Za-z0-9+/]+)={0,2}$/.exec(clean) ?? [];
  return digits && digits.length % 4 !== 1 ? digits.padEnd(Math.ceil(digits.length / 4) * 4, '=') : undefined;
}
