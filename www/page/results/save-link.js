import { element, icon } from '../dom.js';

/**
 * A link to save a file. Nothing is downloaded unasked.
 * @param {string} url
 * @param {string} name
 */
export function saveLink(url, name) {
  return element('a', { class: 'save', href: url, download: name }, icon('save'), `Save ${name}`);
}
