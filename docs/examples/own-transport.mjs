/**
 * A messenger over anything that carries lines of text.
 *
 * @param {{ write(line: string): void, end(): void, on(event: 'line' | 'end', listener: (line: string) => void): unknown }} pipe
 * @returns {import('caphost').Messenger}
 */
export function wire(pipe) {
  /** @type {import('caphost').Messenger} */
  const messenger = {
    post: (envelope) => pipe.write(JSON.stringify(envelope)),
    close: () => pipe.end(),
  };
  pipe.on('line', (line) => messenger.onmessage?.(JSON.parse(line)));
  pipe.on('end', () => messenger.onclose?.());
  return messenger;
}
