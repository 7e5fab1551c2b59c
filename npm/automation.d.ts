import type { Agent, ConnectOptions } from './agent.js';

export type * from './agent.js';
export { CapHostError } from './types.js';

/** The methods of a Puppeteer or Playwright page that this package uses. */
export interface AutomatedPage {
  evaluate(...work: any[]): Promise<any>;
  evaluateHandle(...work: any[]): Promise<any>;
  exposeFunction(name: string, callback: (...given: any[]) => any): Promise<any>;
  on(event: any, listener: any): any;
  off(event: any, listener: any): any;
}

/** The methods of a Puppeteer or Playwright frame that this package uses. */
export interface AutomatedFrame {
  evaluate(...work: any[]): Promise<any>;
  evaluateHandle(...work: any[]): Promise<any>;
  page(): AutomatedPage;
}

export interface AttachOptions extends ConnectOptions {
  /**
   * Whether to end a cancelled call that blocks the page's thread, so that the page cannot answer. DevTools
   * then ends the call's job (in Chromium), and the response says `metadata.stop: 'terminated'`. Only a job
   * that the host has marked as belonging to that call is ever ended. `after`: the milliseconds that the
   * page has to answer before that, default 100. From the first call on, a debugger is attached to a page
   * of a caphost app for this purpose; the page's WebAssembly then runs at about a third of its speed, but
   * WebAssembly in workers does not slow down, and each call takes about 0.2 ms longer. `false`: nothing is
   * ended, and no debugger is attached.
   * Default true.
   */
  terminate?: boolean | { after?: number | undefined } | undefined;
}

/**
 * Connects to the app in a page or frame over its `window.abp`, once `window.abp` has appeared. Works with
 * any app that speaks ABP 0.1. If a page has no `window.abp`, but offers its capabilities as tools of the
 * browser (WebMCP, in Chromium), the agent calls these tools.
 *
 * The session belongs to the document: a navigation, a reload, a crash, or the end of the page or of the
 * browser settles every pending call with DISCONNECTED. A change of the address within the document does
 * not. If the browser restores a document that the user had left (bfcache), you may attach to it again.
 * With `reconnect: true`, the agent attaches again by itself, to a document of the same origin.
 *
 * If the agent disappears without a word, as after `browser.disconnect()`, and the page stays, the page
 * ends the session 30 to 50 s later. The same happens if the agent's program is stopped for that long, for
 * example by a debugger. `page.evaluate(() => abp.shutdown())` ends an unused session at once.
 *
 * The promise rejects with an Error that has a `code`: `TIMEOUT`, `DISCONNECTED`, `ALREADY_INITIALIZED`, or
 * the code of the app's refusal.
 */
export function attach<Caps = any>(page: AutomatedPage | AutomatedFrame, options?: AttachOptions): Promise<Agent<Caps>>;
