import { byId, setText } from './dom.js';

/** Of this page alone: other pages of the origin have tokens that may do less. */
const KEY = 'caphost.runs.token';

/** Asks for a token where one is needed, and keeps it until the tab is closed. */
export class SignIn {
  #form = byId('sign-in', HTMLFormElement);
  #input = byId('token', HTMLInputElement);
  #problem = byId('sign-in-problem');
  #forget = byId('forget', HTMLButtonElement);
  #changed;

  /** @param {() => void} changed there is another token, or none any more */
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

  /** The token in the address, `#token=<secret>`, which is taken out of sight. */
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

  /** Where the browser keeps nothing for us. @type {string | undefined} */
  #kept;

  /** @param {string} [problem] what is wrong with the token there is */
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

  /** A token was good, or none is needed. */
  done() {
    this.#form.hidden = true;
    this.#input.value = '';
    this.#forget.hidden = this.token === undefined;
  }

  /** @param {string | undefined} token */
  #take(token) {
    // A header cannot carry anything else.
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
      // Kept by this page alone then.
    }
  }
}
