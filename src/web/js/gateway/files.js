/**
 * Gives files of this page to the gateway: the `blob:` URLs that results of capabilities refer to. The
 * gateway sets the pace. The page reads a file from its Blob and keeps no more of it than one chunk.
 */

/** The most bytes of a file in one frame. */
const PIECE = 256 << 10;

/** The files that are read over one socket. */
export class Files {
  /** What is being read, by its number. @type {Map<number, Reading>} */
  #readings = new Map();
  #post;
  #send;

  /**
   * @param {(type: string, payload: any) => void} post sends a message
   * @param {(frame: Uint8Array) => void} send sends a binary frame
   */
  constructor(post, send) {
    this.#post = post;
    this.#send = send;
  }

  /** @param {string} type of a message of the gateway @param {any} payload */
  receive(type, { file, url, bytes }) {
    const reading = this.#readings.get(file);
    if (type === 'file/read') void this.#read(file, String(url), new Reading(bytes));
    else if (type === 'file/more') reading?.allow(bytes);
    else if (type === 'file/stop') reading?.stop();
  }

  /** The socket is lost. */
  close() {
    for (const reading of this.#readings.values()) reading.stop();
  }

  /** @param {number} file @param {string} url @param {Reading} reading */
  async #read(file, url, reading) {
    this.#readings.set(file, reading);
    /** @type {string | undefined} */
    let error;
    try {
      await this.#give(file, url, reading);
    } catch (thrown) {
      error = String(thrown);
    }
    this.#readings.delete(file);
    if (!reading.signal.aborted) this.#post('file/ended', { file, error });
    // The Blob is let go of.
    reading.stop();
  }

  /** @param {number} file @param {string} url @param {Reading} reading */
  async #give(file, url, reading) {
    if (!url.startsWith('blob:')) throw new TypeError('This is no file of the page');
    const { body, headers } = await fetch(url, { signal: reading.signal });
    const size = headers.get('content-length');
    this.#post('file/found', { file, size: size === null ? undefined : Number(size), mimeType: headers.get('content-type') ?? undefined });
    const reader = body?.getReader();
    for (;;) {
      await reading.room();
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return;
      for (let at = 0; at < value.length; ) {
        const most = Math.min(await reading.room(), PIECE);
        const piece = value.subarray(at, at + most);
        const frame = new Uint8Array(4 + piece.length);
        new DataView(frame.buffer).setUint32(0, file);
        frame.set(piece, 4);
        this.#send(frame);
        reading.allow(-piece.length);
        at += piece.length;
      }
    }
  }
}

/** How much of one file the gateway has asked for. */
class Reading {
  #allowed;
  #abort = new AbortController();
  #wake = () => {};

  /** @param {number} allowed */
  constructor(allowed) {
    this.#allowed = allowed;
  }

  get signal() {
    return this.#abort.signal;
  }

  /** @param {number} bytes */
  allow(bytes) {
    this.#allowed += bytes;
    this.#wake();
  }

  stop() {
    this.#abort.abort();
    this.#wake();
  }

  /** Waits until the gateway has asked for bytes. @returns {Promise<number>} how many; rejects if the gateway wants no more */
  async room() {
    while (!(this.#allowed > 0)) {
      this.signal.throwIfAborted();
      await new Promise((wake) => (this.#wake = () => wake(undefined)));
    }
    this.signal.throwIfAborted();
    return this.#allowed;
  }
}
