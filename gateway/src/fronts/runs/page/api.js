/** @import { ApiError, App, Confirmation, Run, RunList } from './types.js' */

/** This is longer than the gateway waits for an app's confirmation by default. */
const CANCEL_PATIENCE_MS = 60_000;
const LIST_PATIENCE_MS = 10_000;

/** The gateway has answered with an error. */
export class Refusal extends Error {
  /**
   * @param {number} status the HTTP status
   * @param {ApiError | undefined} error
   */
  constructor(status, error) {
    super(error?.message ?? `The gateway answered with status ${status}`);
    this.name = 'Refusal';
    this.status = status;
    this.code = error?.code;
  }
}

/** The runs API, with or without a token. */
export class Api {
  /** @type {string | undefined} */
  #token;
  /** The tag of the last list, so that the gateway does not send an unchanged list again. @type {string | undefined} */
  #tag;

  /** @param {string | undefined} token */
  use(token) {
    this.#token = token;
    this.#tag = undefined;
  }

  /** @returns {Promise<RunList | undefined>} undefined if the list is unchanged */
  async list() {
    const headers = this.#headers();
    if (this.#tag) headers.set('If-None-Match', this.#tag);
    const response = await fetch('/api/runs', { headers, cache: 'no-store', signal: AbortSignal.timeout(LIST_PATIENCE_MS) });
    if (response.status === 304) return undefined;
    const list = await this.#read(response);
    this.#tag = response.headers.get('ETag') ?? undefined;
    return list;
  }

  /** The connected apps and their tabs. @returns {Promise<App[]>} */
  async apps() {
    const response = await fetch('/api/apps', { headers: this.#headers(), cache: 'no-store', signal: AbortSignal.timeout(LIST_PATIENCE_MS) });
    return (await this.#read(response)).apps;
  }

  /**
   * @param {Run} run
   * @param {string} reason '' if there is none
   * @returns {Promise<Confirmation>}
   */
  async cancel(run, reason) {
    const headers = this.#headers();
    headers.set('Content-Type', 'application/json');
    const response = await fetch(`/api/runs/${encodeURIComponent(run.runId)}/cancel`, {
      method: 'POST',
      headers,
      body: JSON.stringify(reason ? { reason } : {}),
      signal: AbortSignal.timeout(CANCEL_PATIENCE_MS),
    });
    return this.#read(response);
  }

  #headers() {
    const headers = new Headers();
    if (this.#token) headers.set('Authorization', `Bearer ${this.#token}`);
    return headers;
  }

  /** @param {Response} response */
  async #read(response) {
    const body = await response.json().catch(() => undefined);
    if (!response.ok) throw new Refusal(response.status, body?.error);
    if (body === undefined) throw new Error('The gateway answered with something that is not JSON');
    return body;
  }
}
