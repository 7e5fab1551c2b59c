import type { Agent, ConnectOptions } from './agent.js';

export type * from './agent.js';
export { CapHostError } from './types.js';

/** What is used of a page of Puppeteer or Playwright. */
export interface AutomatedPage {
  evaluate(...work: any[]): Promise<any>;
  evaluateHandle(...work: any[]): Promise<any>;
  exposeFunction(name: string, callback: (...given: any[]) => any): Promise<any>;
  on(event: any, listener: any): any;
  off(event: any, listener: any): any;
}

/** What is used of a frame of either. */
export interface AutomatedFrame {
  evaluate(...work: any[]): Promise<any>;
  evaluateHandle(...work: any[]): Promise<any>;
  page(): AutomatedPage;
}

export interface AttachOptions extends ConnectOptions {
  /**
   * What is done when a cancelled call holds the page's thread, so that the page cannot answer: its job
   * is ended (Chromium, through DevTools), and the call says `metadata.stop: 'terminated'`. Only a job
   * that the host has marked as that call's is ever ended. `after`: how many milliseconds the page has
   * to answer before, 100 unless told otherwise. From the first call on, a page of a caphost app has a
   * debugger for it, with which its WebAssembly runs about a third as fast; that of workers does not.
   * `false`: nothing is ended, and there is no debugger. Default true.
   */
  terminate?: boolean | { after?: number | undefined } | undefined;
}

/**
 * Connects to the app in a page, or in a frame of one, over its `window.abp`, once that has appeared. Works with any app
 * that speaks ABP 0.1. A page without one whose capabilities are tools of the browser (WebMCP, in
 * Chromium) is called through these.
 *
 * The session is the document's: a navigation, a reload, a crash, or the end of the page or of the
 * browser settles every pending call with DISCONNECTED. A change of the address within the document
 * does not. A document that was left and that the browser brings back (bfcache) may be attached to again.
 *
 * A page that stays while its agent goes without a word, as by `browser.disconnect()`, ends the session
 * 30 to 50 s later. So it does if the agent's program is stopped for that long, such as by a debugger.
 * `page.evaluate(() => abp.shutdown())` ends a session that nobody uses at once.
 *
 * The promise rejects with an Error that has a `code`: `TIMEOUT`, `DISCONNECTED`,
 * `ALREADY_INITIALIZED`, or whatever the app refuses with.
 */
export function attach<Caps = any>(page: AutomatedPage | AutomatedFrame, options?: AttachOptions): Promise<Agent<Caps>>;
