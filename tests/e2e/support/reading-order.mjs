/**
 * Whether words on a page are rendered from left to right, in reading order. Runs in the page.
 *
 * @param {Node} within the node whose text has the words
 * @param {string} words
 */
export function standInOrder(within, words) {
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const at = String(node.nodeValue).indexOf(words);
    if (at < 0) continue;
    const places = Array.from(words.trimEnd(), (_, index) => {
      range.setStart(node, at + index);
      range.setEnd(node, at + index + 1);
      return range.getBoundingClientRect().left;
    });
    return places.every((left, index) => index === 0 || left >= Number(places[index - 1]));
  }
  return undefined;
}
