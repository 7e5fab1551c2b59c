/** @import { RunList as Listed } from './types.js' */
import { Api, Refusal } from './api.js';
import { AppList } from './app-list.js';
import { byId, element, icon, setIcon, setText } from './dom.js';
import { Filters } from './filters.js';
import { timeOf } from './format.js';
import { RunList } from './run-list.js';
import { SignIn } from './sign-in.js';
import { Watch } from './watch.js';

const api = new Api();
const link = byId('link');
const linkIcon = icon('connecting');
const linkText = element('span', {}, link.textContent ?? '');
link.replaceChildren(linkIcon, linkText);
const section = byId('runs');
const viewer = byId('viewer');
/** When the list was last up to date. */
let heardAt = 0;
/** Why the list may be incomplete. */
let incomplete = '';

const announcements = byId('announcements');
const announce = (/** @type {string} */ text) => setText(announcements, text);

/** How often the page asks for the apps, which change less than the runs. */
const APPS_EVERY_MS = 3000;
const apps = new AppList();
let askedForApps = 0;

const filters = new Filters(() => list.draw());
const list = new RunList(filters, { api, announce, asked: () => watch.now() });
const signIn = new SignIn(begin);
const watch = new Watch(() => api.list(), { heard, failed });

/** @param {Listed | undefined} listed */
function heard(listed) {
  heardAt = Date.now();
  signIn.done();
  section.hidden = false;
  section.classList.remove('stale');
  void showApps();
  if (listed) incomplete = listed.incomplete ?? '';
  show('live', incomplete ? `Live. ${incomplete}` : 'Live');
  if (!listed) return;
  filters.update(listed.runs);
  list.show(listed.runs, listed);
  const { name, role } = listed.viewer;
  viewer.hidden = name === 'anyone';
  setText(viewer, role === 'admin' ? `${name}, who sees all runs` : `${name}, who sees its own runs`);
}

/** The list of runs tells of problems with the gateway. */
async function showApps() {
  if (Date.now() - askedForApps < APPS_EVERY_MS) return;
  const asked = askedForApps = Date.now();
  const connected = await api.apps().catch(() => undefined);
  // Another token may have been given meanwhile.
  if (connected && asked === askedForApps) apps.show(connected);
}

/** @param {unknown} error */
function failed(error) {
  if (error instanceof Refusal && (error.status === 401 || error.status === 403)) {
    const { token } = signIn;
    hide();
    show('lost', token ? 'Refused by the gateway' : 'A token is needed');
    signIn.ask(token && (error.status === 401 ? 'The gateway does not know this token.' : 'This token may not see runs: it needs the role agent or admin.'));
    return false;
  }
  section.classList.add('stale');
  const since = heardAt > 0 ? `; this is from ${timeOf(heardAt)}` : '';
  const what = error instanceof Refusal ? error.message : 'Gateway out of reach';
  show('lost', `${what}, trying again${since}`);
  return true;
}

/** Hides everything that another token has shown. */
function hide() {
  section.hidden = true;
  viewer.hidden = true;
  heardAt = 0;
  list.clear();
  apps.clear();
  askedForApps = 0;
}

function begin() {
  hide();
  api.use(signIn.token);
  show('connecting', 'Asking the gateway');
  watch.start();
}

/**
 * @param {'connecting' | 'live' | 'lost'} state
 * @param {string} text
 */
function show(state, text) {
  link.dataset.state = state;
  setIcon(linkIcon, state);
  setText(linkText, text);
}

begin();
