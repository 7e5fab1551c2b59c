/** @import { App, Instance } from './types.js' */
import { byId, element, setText } from './dom.js';
import { isolated, plural, timeOf } from './format.js';

/** The connected apps and their tabs. */
export class AppList {
  #section = byId('connected');
  #summary = byId('connected-summary');
  #list = byId('connected-apps');
  /** What is shown, as text. */
  #shown = '';

  /** @param {App[]} apps */
  show(apps) {
    this.#section.hidden = false;
    const tabs = apps.reduce((sum, { instances }) => sum + instances.length, 0);
    setText(this.#summary, apps.length === 0 ? 'No app is connected' : `Connected: ${plural(apps.length, 'app')}, ${plural(tabs, 'tab')}`);
    const shown = JSON.stringify(apps);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#list.replaceChildren(...apps.map(appItem));
  }

  clear() {
    this.#section.hidden = true;
    this.#shown = '';
    this.#list.replaceChildren();
  }
}

/** @param {App} app */
function appItem({ id, name, version, instances }) {
  const title = element('strong', {}, isolated(name));
  const about = element('span', { class: 'hint' }, ` ${isolated(id)} · version ${isolated(version)}`);
  return element('li', {}, title, about, element('ul', {}, ...instances.map(tabItem)));
}

/** @param {Instance} instance */
function tabItem({ app, title, agents, since, latest, suspended }) {
  const facts = [
    title === null ? 'no page' : `“${isolated(title)}”`,
    plural(agents, 'agent'),
    `since ${timeOf(since)}`,
    ...(suspended ? ['connection lost, may come back'] : []),
    ...(latest ? ['new sessions go here'] : []),
  ];
  return element('li', { 'data-latest': latest }, element('code', {}, isolated(app)), ` ${facts.join(' · ')}`);
}
