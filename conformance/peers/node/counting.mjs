/** The work of both tools. */

/** @type {Map<string, number>} */
const counted = new Map();

/**
 * @param {{ key: string, steps: number, ms: number }} params
 * @param {{ cancelled: () => boolean, progress?: (step: number) => unknown }} context `cancelled` says what the SDK says
 */
export async function count({ key, steps, ms }, { cancelled, progress }) {
  for (let step = 1; step <= steps; step += 1) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (cancelled()) throw new Error('cancelled');
    counted.set(key, step);
    await progress?.(step);
  }
  return { key, count: steps };
}

/** @param {{ key: string }} params */
export const read = ({ key }) => ({ key, steps: counted.get(key) ?? 0 });
