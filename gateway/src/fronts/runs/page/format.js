const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const whole = new Intl.NumberFormat('en');

/** @param {number} ms a duration */
export function duration(ms) {
  const seconds = ms / 1000;
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** @param {number} ms a duration that is a guess */
export function roughly(ms) {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** @param {number} time unix milliseconds; with its date if that is not today's */
export function timeOf(time) {
  const today = new Date().toDateString() === new Date(time).toDateString();
  return (today ? clock : calendar).format(time);
}

/** @param {number} n */
export function count(n) {
  return whole.format(n);
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}
