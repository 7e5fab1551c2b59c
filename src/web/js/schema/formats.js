/**
 * The formats of JSON Schema that are checked. Each check reads its text once or a few times; none
 * backtracks. Every text satisfies an unknown format. The format `regex` is in `expressions.js`.
 */

/** @param {RegExp} pattern */
const like = (pattern) => (/** @type {string} */ text) => pattern.test(text);

/** @param {string} text */
function isDate(text) {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (!month || !day || month > 12 || year === undefined) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

/** @param {string} text */
function isTime(text) {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (!parts) return false;
  const [hour = 0, minute = 0, second = 0, , offsetHour = 0, offsetMinute = 0] = parts.slice(1).map((it) => Number(it ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (parts[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  // A leap second is the last second of a day.
  return second < 60 || (hour * 60 + minute - offset + 2 * 1440) % 1440 === 1439;
}

/** @param {string} text */
const isDateTime = (text) => /^.{10}[t\s]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));

const DURATION = /^P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))$/;

const BYTE = '(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)';
const isIpv4 = like(new RegExp(`^(?:${BYTE}\\.){3}${BYTE}$`));

/** @param {string} text */
function isIpv6(text) {
  if (text.length > 45) return false;
  const last = text.slice(text.lastIndexOf(':') + 1);
  const ends = last.includes('.');
  if (ends && !/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/.test(last)) return false;
  // An IPv4 address stands for two groups.
  const groups = (ends ? `${text.slice(0, -last.length)}0:0` : text).split('::').map((half) => (half === '' ? [] : half.split(':')));
  const count = groups.flat().length;
  return groups.flat().every(like(/^[0-9a-f]{1,4}$/i)) && (groups.length === 1 ? count === 8 : groups.length === 2 && count < 8);
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** @param {string} text */
const isHostname = (text) => text.length <= 253 && text.split('.').every(like(LABEL));

/** @param {string} text */
function isEmail(text) {
  const at = text.lastIndexOf('@');
  const [local, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || local.length > 64 || host.length > 253) return false;
  const plain = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
  if (!plain.test(local) && !/^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(local)) return false;
  const literal = /^\[(ipv6:)?(.*)\]$/i.exec(host);
  return literal ? (literal[1] ? isIpv6 : isIpv4)(literal[2] ?? '') : isHostname(host);
}

/** The characters of a URI, and escapes. */
const URI_CHARACTERS = /^(?:[a-z0-9\-._~!$&'()*+,;=:@/?#[\]]|%[0-9a-f]{2})*$/i;

/** @param {string} text whether it is a URI, or relative to one */
function isReference(text) {
  if (!URI_CHARACTERS.test(text)) return false;
  const [, authority, rest = ''] = /^(?:[a-z][a-z0-9+\-.]*:)?(?:\/\/([^/?#]*))?(.*)$/is.exec(text) ?? [];
  // A fragment contains no other fragment, and brackets are only around an address.
  if (/#.*#/s.test(rest) || /[[\]]/.test(rest)) return false;
  if (authority === undefined) return !/^[^/?#]*:/.test(rest) || /^[a-z][a-z0-9+\-.]*:/i.test(text);
  const [, host = '', port] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:@]*)(?::(.*))?$/s.exec(authority) ?? ['', '@'];
  if (/\D/.test(port ?? '') || host.includes('@')) return false;
  if (!host.startsWith('[')) return !/[[\]]/.test(authority);
  return isIpv6(host.slice(1, -1)) || /^\[v[0-9a-f]+\.[^[\]/?#@]+\]$/i.test(host);
}

/** @param {string} text */
const isUri = (text) => /^[a-z][a-z0-9+\-.]*:/i.test(text) && isReference(text);

/** @param {string} text an address in the web, of a host that others can reach, or of this machine */
function isUrl(text) {
  const [, authority = ''] = /^(?:https?|ftp):\/\/([^\s/?#]+)(?:[/?#]\S*)?$/iu.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{2,5}$/, '');
  if (/^(?:localhost|\[::1\])$/i.test(host)) return true;
  if (isIpv4(host)) {
    const inside = /^(?:10\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;
    return !inside.test(host) && /^(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])\..*\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])$/.test(host);
  }
  const labels = host.split('.');
  return labels.length > 1 && labels.every(like(/^[a-z\u{a1}-\u{ffff}0-9]+(?:-[a-z\u{a1}-\u{ffff}0-9]+)*$/iu)) && /^[a-z\u{a1}-\u{ffff}]{2,}$/iu.test(labels.at(-1) ?? '');
}

const NAME = '(?:[a-z0-9_]|%[0-9a-f]{2})+';
const VARIABLE = `${NAME}(?:\\.${NAME})*(?::[1-9]\\d{0,3}|\\*)?`;
const TEMPLATE = new RegExp(`^(?:[^\\x00-\\x20\\x7f"<>%\\\\^\`{|}]|%[0-9a-f]{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`, 'i');

/** @type {Map<string, (text: string) => boolean>} */
export const formats = new Map(Object.entries({
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: like(DURATION),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: isUri,
  'uri-reference': isReference,
  'uri-template': like(TEMPLATE),
  url: isUrl,
  uuid: like(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  'json-pointer': like(/^(?:\/(?:[^~/]|~[01])*)*$/),
  'json-pointer-uri-fragment': like(/^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~[01])*)*$/i),
  'relative-json-pointer': like(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/),
}));
