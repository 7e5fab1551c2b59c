/**
 * What a Chromium under test is started with. `--headless` is left to whoever starts it.
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
    // Containers often have a /dev/shm too small for a page with large buffers.
    ...(process.platform === 'linux' ? ['--disable-dev-shm-usage'] : []),
    // Chromium refuses to start its sandbox as root, and only then may it go without.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
}
