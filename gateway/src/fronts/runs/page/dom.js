const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Strings among the children become text nodes, so data can never turn into markup.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] `true` sets an empty attribute, `false` and `undefined` set no attribute
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
 * An icon from the sprite in index.html. It is only decoration, because the word beside it says the same.
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
  const href = `#icon-${name}`;
  const use = svg.firstElementChild;
  if (use?.getAttribute('href') !== href) use?.setAttribute('href', href);
}

/**
 * The element of the page with this id. If it is missing, index.html is wrong.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!found || (kind && !(found instanceof kind))) throw new Error(`index.html has no such element #${id}`);
  return /** @type {T} */ (found);
}

/**
 * Sets a text only if it differs, so that unchanged live regions and selections stay undisturbed.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
