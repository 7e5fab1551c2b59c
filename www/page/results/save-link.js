import { element, icon } from '../dom.js';

/**
 * A link the reader may follow; nothing is downloaded unasked.
 * @param {string} url
 * @param {string} name
 */
export function saveLink(url, name) {
  return element('a', { class: 'save', href: url, download: name }, icon('save'), `Save ${name}`);
}
