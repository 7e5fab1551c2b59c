/**
 * The functions an app calls back: `__abp_progress` and the others. A page has them once, and they
 * serve whoever is attached to it.
 *
 * @typedef {import('./page-messenger.js').PageMessenger} PageMessenger
 */
import { failure } from '../errors.js';

/** @type {WeakMap<object, { attached: PageMessenger | undefined, exposed: Promise<unknown> }>} */
const pages = new WeakMap();

/**
 * @param {import('./page-messenger.js').Page} page
 * @param {PageMessenger} messenger
 * @returns {Promise<(() => void) & { undo: () => void }>} makes the messenger the one they serve
 */
export async function exposeCallbacks(page, messenger) {
  let entry = pages.get(page);
  if (!entry) {
    entry = { attached: undefined, exposed: Promise.resolve() };
    pages.set(page, entry);
    entry.exposed = expose(page, entry);
  }
  const { exposed } = entry;
  await exposed;
  const own = entry;
  return Object.assign(
    () => {
      own.attached = messenger;
    },
    {
      undo: () => {
        if (own.attached === messenger) own.attached = undefined;
      },
    },
  );
}

/**
 * @param {import('./page-messenger.js').Page} page
 * @param {{ attached: PageMessenger | undefined }} entry
 */
function expose(page, entry) {
  let asked = 0;
  /** @param {string} type @param {any} payload @param {unknown} [id] */
  const say = (type, payload, id) => entry.attached?.onmessage?.({ type, id, payload });

  /** @type {Record<string, (...args: any[]) => any>} */
  const callbacks = {
    __abp_progress: (info) => say('progress', info),
    __abp_notification: (event, data) => say('notification', typeof event === 'string' ? { event, data } : event),
    __abp_capabilities_changed: (data) => say('notification', { event: 'notifications/capabilities/list_changed', data }),
    __abp_elicitation: (request) => {
      const { attached } = entry;
      if (!attached) return failure('NOT_INITIALIZED', 'No agent is attached');
      asked += 1;
      const id = request?.id ?? `question ${asked}`;
      return new Promise((resolve) => {
        attached.questions.set(id, (answer) => resolve(answer ?? failure('DISCONNECTED', 'The agent is gone')));
        say('elicitation/request', request, id);
      });
    },
  };
  return Promise.all(
    Object.entries(callbacks).map(async ([name, callback]) => {
      try {
        await page.exposeFunction(name, callback);
      } catch {
        // Whoever exposed one already is called instead.
      }
    }),
  );
}
