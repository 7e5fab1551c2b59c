/** @import { CallHistory, Counts } from './call-history.js' */
/** @import { CallState, HostEvent } from './types/protocol.js' */
import { byId, element, icon, setIcon, setText } from './dom.js';
import { STATE_NAMES } from './call-text.js';
import { count, isolated, plural } from './format.js';

const GATEWAY = {
  connecting: 'Connecting to the gateway',
  connected: 'Gateway connected',
  disconnected: 'Gateway out of reach, trying again',
  refused: 'Refused by the gateway',
  superseded: 'Gateway connected; new agents go to another page of this app',
};
/** Gateway states that use the icon of another state. @type {Record<string, string>} */
const LOOKS_LIKE = { refused: 'disconnected', superseded: 'connected' };

/** The state of the gateway, the connected agents, and the counts of calls by state. */
export class Header {
  /** Open sessions and their agents. @type {Map<string, string>} */
  #sessions = new Map();
  #gatewayIcon = icon('gateway-connecting');
  #gatewayText = element('span', {}, GATEWAY.connecting);
  #gateway = byId('gateway');
  #agents = byId('agents');
  /** @type {Map<CallState, HTMLElement>} */
  #counts = new Map();

  constructor() {
    this.#gateway.replaceChildren(this.#gatewayIcon, this.#gatewayText);
    const counts = byId('counts');
    for (const [state, name] of Object.entries(STATE_NAMES)) {
      const number = element('dd', {}, '0');
      this.#counts.set(/** @type {CallState} */ (state), number);
      counts.append(element('div', { 'data-state': state }, element('dt', {}, icon(state), name), number));
    }
  }

  /** @param {HostEvent} event */
  take(event) {
    if (event.type === 'gateway') {
      // The gateway closes the connection, and the host does not reconnect. The reason for the
      // refusal is the useful text.
      if (event.state === 'disconnected' && this.#gateway.dataset.state === 'refused') return;
      this.#gateway.dataset.state = event.state;
      this.#gateway.title = event.url;
      setIcon(this.#gatewayIcon, `gateway-${LOOKS_LIKE[event.state] ?? event.state}`);
      setText(this.#gatewayText, event.error ? `${GATEWAY[event.state]}: ${event.error.message}` : GATEWAY[event.state]);
    } else if (event.type === 'session') {
      if (event.state === 'open') this.#sessions.set(event.sessionId, event.agent?.name ?? 'unnamed agent');
      else this.#sessions.delete(event.sessionId);
    }
  }

  /** @param {CallHistory} history */
  draw({ counts }) {
    for (const [state, number] of this.#counts) setText(number, count(counts[state]));
    setText(this.#agents, agentsText([...this.#sessions.values()]));
  }
}

/** @param {string[]} names */
function agentsText(names) {
  if (names.length === 0) return 'No agent connected';
  const shown = [...new Set(names)].slice(0, 3).map((name) => isolated(name.slice(0, 40)));
  return `${plural(names.length, 'agent')}: ${shown.join(', ')}${new Set(names).size > 3 ? ', …' : ''}`;
}
