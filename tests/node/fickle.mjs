/** Values that differ between two reads: they pass a check, and are larger when they are sent. */

export const LIMIT = 1_000;
export const LONG = 'x'.repeat(50_000);

/** An object whose `text` is short for the first `times` reads, and long after that. */
export function fickle(times = 1) {
  let reads = 0;
  return {
    get text() {
      reads += 1;
      return reads > times ? LONG : 'short';
    },
  };
}

/** The shapes of values that contain such an object. @type {Record<string, (it: any) => object>} */
export const SHAPES = {
  'a getter': (it) => it,
  'a getter inside': (it) => ({ inside: { it } }),
  'an element': (it) => {
    const list = ['short'];
    Object.defineProperty(list, 0, { get: () => it.text, enumerable: true });
    return { list };
  },
  'a proxy': (it) => new Proxy({ text: 'short' }, { get: (target, key) => (key === 'text' ? it.text : Reflect.get(target, key)) }),
  'beside what only a clone takes': (it) => ({ it, when: new Date(0) }),
  'beside many': (it) => ({ many: Array.from({ length: 150 }, () => 1), it }),
};

/** @param {unknown} value the value whose characters are counted, as a lower bound */
export const size = (value) => JSON.stringify(value)?.length ?? 0;
