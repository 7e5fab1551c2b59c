/**
 * The flags for a Chromium under test. The caller decides on `--headless`.
 *
 * @returns {string[]}
 */
export function chromiumFlags() {
  return [
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-default-browser-check',
    '--no-first-run',
    // Containers often have a /dev/shm that is too small for a page with large buffers.
    ...(process.platform === 'linux' ? ['--disable-dev-shm-usage'] : []),
    // Chromium refuses to start its sandbox as root. Only root may do without a sandbox here.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
}
