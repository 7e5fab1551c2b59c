/**
 * Whether the allowed licenses satisfy a license expression. The syntax is SPDX 2, and the older
 * syntax of crates: `MIT/Apache-2.0` for either.
 *
 * @param {string} expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`
 * @param {Set<string>} allowed such as `MIT` and `Apache-2.0 WITH LLVM-exception`
 * @returns {boolean} false if the text is no license expression
 */
export function isAllowed(expression, allowed) {
  const tokens = expression.replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const taken = (/** @type {string} */ word) => {
    const found = tokens[at] === word;
    if (found) at += 1;
    return found;
  };

  /** @returns {boolean} */
  function either() {
    let met = all();
    while (taken('OR')) met = all() || met;
    return met;
  }
  /** @returns {boolean} */
  function all() {
    let met = one();
    while (taken('AND')) met = one() && met;
    return met;
  }
  function one() {
    if (taken('(')) {
      const met = either();
      return taken(')') && met;
    }
    const name = tokens[at++] ?? '';
    return allowed.has(taken('WITH') ? `${name} WITH ${tokens[at++]}` : name);
  }

  return either() && at === tokens.length;
}
