/** @import { Call } from './call-history.js' */
/** @import { Host, HostEvent } from './types/protocol.js' */
import { Announcer } from './announcer.js';
import { CallHistory } from './call-history.js';
import { Capabilities } from './capabilities.js';
import { byId, setText } from './dom.js';
import { Header } from './header.js';
import { showSnippets } from './snippets.js';
import { Strip } from './timeline/strip.js';
import { Timeline } from './timeline/timeline.js';

const OPERATOR_REASON = 'Cancelled by the operator of the page';

const announcer = new Announcer(byId('announcements'));
const header = new Header();
const history = new CallHistory(changed);
/** @type {Host | undefined} */
let host;
/** @type {import('./own-calls.js').OwnCalls | undefined} */
let ownCalls;
/** @type {Capabilities | undefined} */
let capabilities;

const timeline = new Timeline(byId('calls'), history, { cancel, isOwn, drawn });
const strip = new Strip(byId('strip'), (call) => timeline.reveal(call));

/**
 * @param {Call} call
 * @param {boolean} removed
 */
function changed(call, removed) {
  timeline.change(call);
  if (removed) return;
  announcer.change(call);
  capabilities?.change(call);
}

function drawn() {
  strip.draw(history.calls.values());
  header.draw(history);
  capabilities?.draw(history);
  byId('overview').hidden = history.calls.size === 0;
  if (history.calls.size > 0 && !guide.dataset.closedOnce) {
    guide.dataset.closedOnce = 'true';
    guide.open = false;
  }
  byId('timeline-foot').hidden = history.calls.size === 0;
  byId('empty').hidden = history.calls.size > 0;
}

/** @param {Call} call */
function isOwn(call) {
  return call.sessionId === ownCalls?.sessionId;
}

/** @param {Call} call of any session */
async function cancel(call) {
  if (isOwn(call)) return ownCalls?.cancel(call.callId);
  const before = call.confirmations;
  const response = await host?.cancelCall(call.sessionId, call.callId, OPERATOR_REASON);
  if (response && call.confirmations === before) history.confirm({ ...call, response });
}

/** @param {HostEvent} event */
function take(event) {
  history.take(event);
  header.take(event);
  if (event.type === 'capabilities' && host) capabilities?.show(host.manifest().capabilities);
  if (event.type === 'session' || event.type === 'gateway') header.draw(history);
}

async function start() {
  // Imported here, so that the page can show an error if a build is missing or does not load.
  const [{ startHost }, { connectOwnCalls }] = await Promise.all([import('./host.js'), import('./own-calls.js')]);
  host = await startHost(take);
  const { app, capabilities: registered } = host.manifest();
  ownCalls = await connectOwnCalls(host, history, app.version);
  capabilities = new Capabilities(byId('capability-list'), ownCalls, (call) => timeline.reveal(call));
  capabilities.show(registered);
  byId('loading').hidden = true;
  showSnippets(byId('snippets'), app.id, announcer);
}

const guide = /** @type {HTMLDetailsElement} */ (byId('guide'));
byId('clear').addEventListener('click', () => {
  history.clearEnded();
  byId('timeline').focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  if (timeline.cancelFocused() || capabilities?.cancelFocused()) event.preventDefault();
});

start().catch((error) => {
  byId('loading').hidden = true;
  const place = byId('failure');
  place.hidden = false;
  setText(place, `The app could not be started: ${error instanceof Error ? error.message : String(error)}`);
  throw error;
});
