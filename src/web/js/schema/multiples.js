/**
 * Checks whether numbers are multiples of others, as written in decimals: 0.3 is a multiple of 0.1.
 */

/** No number has more digits than this. */
const MOST_DIGITS = 18;
/** For smaller numbers, the remainder times ten is still exact. */
const SMALL = Number.MAX_SAFE_INTEGER / 10;

/** The divisors of schemas. @type {Map<number, Divisor>} */
const divisors = new Map();
const MOST_DIVISORS = 1000;

/** Digits, times that power of ten. @typedef {{ digits: string, exponent: number }} Decimal */
/** @typedef {{ digits: bigint, exponent: number, tens: number }} Divisor `tens`: powers of ten that hold every 2 and every 5 in its digits */

/**
 * Whether a number is one of times another.
 *
 * @param {number} value
 * @param {number} divisor of a schema
 */
export function isMultipleOf(value, divisor) {
  if (!Number.isFinite(value) || !(divisor > 0 && divisor < Infinity)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [{ digits, exponent }, by] = [decimal(value), divisorOf(divisor)];
  // Further powers of ten change nothing, and make large numbers.
  const tens = Math.min(Math.max(exponent - by.exponent, 0), by.tens);
  const divisorTens = Math.min(Math.max(by.exponent - exponent, 0), MOST_DIGITS);
  const [number, small] = [Number(digits), Number(by.digits)];
  if (number > Number.MAX_SAFE_INTEGER || small > SMALL) {
    return (BigInt(digits) * 10n ** BigInt(tens)) % (by.digits * 10n ** BigInt(divisorTens)) === 0n;
  }
  // A divisor that is larger than the number leaves the number unchanged, even if the divisor is not
  // exact.
  let rest = number % (small * 10 ** divisorTens);
  for (let left = tens; left > 0 && rest > 0; left -= 1) rest = (rest * 10) % small;
  return rest === 0;
}

/** @param {number} divisor */
function divisorOf(divisor) {
  let known = divisors.get(divisor);
  if (!known) {
    if (divisors.size >= MOST_DIVISORS) divisors.clear();
    const { digits, exponent } = decimal(divisor);
    const tens = Math.max(...[2n, 5n].map((factor) => countOf(factor, BigInt(digits))));
    divisors.set(divisor, (known = { digits: BigInt(digits), exponent, tens }));
  }
  return known;
}

/** How often a factor is in a number. @param {bigint} factor @param {bigint} number */
function countOf(factor, number) {
  let count = 0;
  for (let rest = number; rest % factor === 0n; rest /= factor) count += 1;
  return count;
}

/** @param {number} number @returns {Decimal} */
function decimal(number) {
  const written = Math.abs(number).toExponential();
  const mark = written.indexOf('e');
  const digits = written[0] + written.slice(2, mark);
  return { digits, exponent: Number(written.slice(mark + 1)) - digits.length + 1 };
}
