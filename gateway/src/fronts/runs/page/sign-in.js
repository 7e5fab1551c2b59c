import { byId, setText } from './dom.js';

/** Only this page uses this key. Other pages of the origin have tokens with fewer rights. */
const KEY = 'caphost.runs.token';

/** Asks for a token if one is needed, and keeps the token until the tab is closed. */
export class SignIn {
  #form = byId('sign-in', HTMLFormElement);
  #input = byId('token', HTMLInputElement);
  #problem = byId('sign-in-problem');
  #forget = byId('forget', HTMLButtonElement);
  #changed;

  /** @param {() => void} changed called when there is another token, or no token any more */
  constructor(changed) {
    this.#changed = changed;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#take(this.#input.value.trim());
    });
    this.#forget.addEventListener('click', () => this.#take(undefined));
    const given = this.#given();
    if (given !== null) this.#keep(given);
    addEventListener('hashchange', () => {
      const token = this.#given();
      if (token !== null) this.#take(token);
    });
  }

  /** The token in the address, `#token=<secret>`. Removes it from the address. */
  #given() {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
    return token;
  }

  /** @returns {string | undefined} */
  get token() {
    try {
      return sessionStorage.getItem(KEY) ?? undefined;
    } catch {
      return this.#kept;
    }
  }

  /** The token, if the browser does not store it. @type {string | undefined} */
  #kept;

  /** @param {string} [problem] what is wrong with the current token */
  ask(problem = '') {
    const asked = !this.#form.hidden;
    this.#form.hidden = false;
    this.#forget.hidden = true;
    this.#problem.hidden = problem === '';
    setText(this.#problem, problem);
    if (asked) return;
    this.#input.value = '';
    this.#input.focus();
  }

  /** The token was accepted, or no token is needed. */
  done() {
    this.#form.hidden = true;
    this.#input.value = '';
    this.#forget.hidden = this.token === undefined;
  }

  /** @param {string | undefined} token */
  #take(token) {
    // A header cannot carry any other character.
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
      this.ask('A token has no spaces, and no letters but those of ASCII.');
      return;
    }
    this.#keep(token);
    this.#changed();
  }

  /** @param {string | undefined} token */
  #keep(token) {
    this.#kept = token;
    try {
      if (token === undefined) sessionStorage.removeItem(KEY);
      else sessionStorage.setItem(KEY, token);
    } catch {
      // The browser does not store the token, so only `#kept` has it.
    }
  }
}
