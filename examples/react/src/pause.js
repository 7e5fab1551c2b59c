/** A pause that ends at once when the call is stopped. */
export const pause = (milliseconds, signal) => new Promise((resolve, reject) => {
  signal.throwIfAborted();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(signal.reason);
  }, { once: true });
});
