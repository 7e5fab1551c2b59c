/** Makes and writes the parts of `<cap-activity>`. */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name its class, and what `::part` calls it
 */
export function element(tag, name) {
  const made = document.createElement(tag);
  made.className = name;
  made.part.add(name);
  return made;
}

/** @param {Node} node @param {string} text written only if it differs */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
