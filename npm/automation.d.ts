import type { Agent, ConnectOptions } from './agent.js';

export type * from './agent.js';

/** What is used of a page of Puppeteer or Playwright. */
export interface AutomatedPage {
  evaluate(...work: any[]): Promise<any>;
  evaluateHandle(...work: any[]): Promise<any>;
  exposeFunction(name: string, callback: (...given: any[]) => any): Promise<any>;
  on(event: any, listener: any): any;
  off(event: any, listener: any): any;
}

/**
 * Connects to the app in a page, over its `window.abp`, once that has appeared. Works with any app
 * that speaks ABP 0.1. A page without one whose capabilities are tools of the browser (WebMCP, in
 * Chromium) is called through these.
 *
 * The session is the document's: a navigation, a reload, a crash, or the end of the page or of the
 * browser settles every pending call with DISCONNECTED. A change of the address within the document
 * does not.
 *
 * The promise rejects with an Error that has a `code`: `TIMEOUT`, `DISCONNECTED`,
 * `ALREADY_INITIALIZED`, or whatever the app refuses with.
 */
export function attach(page: AutomatedPage, options?: ConnectOptions): Promise<Agent>;
