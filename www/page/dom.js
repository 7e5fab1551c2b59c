const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Strings among the children become text nodes, so data can never turn into markup.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] `true` sets an empty attribute, `false` and `undefined` set none
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/**
 * An icon from the sprite in index.html. It is only decoration: the word beside it says the same.
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  svg.append(use);
  setIcon(svg, name);
  return svg;
}

/**
 * @param {SVGElement} svg made by `icon`
 * @param {string} name
 */
export function setIcon(svg, name) {
  svg.firstElementChild?.setAttribute('href', `#icon-${name}`);
}

/**
 * Returns the page's element with this id. If it is missing, index.html is wrong.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element #${id}`);
  return found;
}

/**
 * Sets text only when it differs, so that an unchanged live region or selection is not disturbed.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
