import assert from 'node:assert/strict';

const OPEN = 1;
export const CLOSED = 3;

/** The gateway's end of a WebSocket. */
export class Socket {
  /** All sockets so far, the latest last. @type {Socket[]} */
  static all = [];
  readyState = 0;
  /** @type {any[]} */
  sent = [];
  /** @type {any} */ onopen;
  /** @type {any} */ onmessage;
  /** @type {any} */ onclose;
  /** @type {any} */ onerror;

  constructor() {
    Socket.all.push(this);
  }

  open() {
    this.readyState = OPEN;
    this.onopen?.();
  }

  /** @param {string} text */
  send(text) {
    assert.equal(this.readyState, OPEN);
    this.sent.push(JSON.parse(text));
  }

  /** @param {string} type @param {any} [payload] @param {string} [agent] @param {string} [id] */
  hear(type, payload = {}, agent, id) {
    this.onmessage({ data: JSON.stringify({ type, id, agent, payload }) });
  }

  /** @param {number} code */
  close(code) {
    this.closedWith = code;
    this.readyState = 2;
  }

  /** @param {number} [code] @param {string} [reason] */
  end(code = 1006, reason = '') {
    this.readyState = CLOSED;
    this.onclose({ code, reason });
  }

  /** Takes the messages that were sent since the last time: the type of each, or its content. */
  take() {
    return this.sent.splice(0).map(({ type, payload }) => (type === 'progress' ? payload.text : type));
  }
}

/** The latest socket. */
export const last = () => /** @type {Socket} */ (Socket.all.at(-1));
