/**
 * The functions that an app calls back: `__abp_progress` and the others. A page has them once, and they
 * serve the messenger that is currently attached to the page.
 *
 * @typedef {import('./page-messenger.js').PageMessenger} PageMessenger
 */
import { failure } from '../errors.js';
import { nameFrame } from './in-page.js';

/** @typedef {Map<number, PageMessenger>} Attached by the numbers of frames; a page itself has 0 */

/** @type {WeakMap<object, { attached: Attached, exposed: Promise<unknown> }>} */
const pages = new WeakMap();
/** @type {WeakMap<object, number>} */
const frames = new WeakMap();
let framesSeen = 0;

/**
 * @param {import('./page-messenger.js').Page} page
 * @param {import('./page-messenger.js').Page | import('./page-messenger.js').Frame} frame the page, or one of it
 * @param {PageMessenger} messenger
 * @returns {Promise<(() => void) & { undo: () => void }>} makes the messenger the one they serve
 */
export async function exposeCallbacks(page, frame, messenger) {
  let entry = pages.get(page);
  if (!entry) {
    entry = { attached: new Map(), exposed: Promise.resolve() };
    pages.set(page, entry);
    entry.exposed = expose(page, entry.attached);
  }
  const { attached, exposed } = entry;
  await exposed;
  let number = 0;
  if (frame !== page) {
    number = frames.get(frame) ?? (framesSeen += 1);
    frames.set(frame, number);
    await frame.evaluate(nameFrame, { names: NAMES, frame: number });
  }
  return Object.assign(
    () => {
      attached.set(number, messenger);
    },
    {
      undo: () => {
        if (attached.get(number) === messenger) attached.delete(number);
      },
    },
  );
}

const NAMES = ['__abp_progress', '__abp_notification', '__abp_capabilities_changed', '__abp_elicitation'];

/**
 * @param {import('./page-messenger.js').Page} page
 * @param {Attached} attached
 */
function expose(page, attached) {
  let asked = 0;
  /** @param {number | undefined} frame @param {string} type @param {any} payload @param {unknown} [id] */
  const say = (frame, type, payload, id) => attached.get(frame ?? 0)?.onmessage?.({ type, id, payload });

  /**
   * The callbacks, with the arguments of the app, and the frame as the last argument.
   *
   * @type {((first: any, second: any, frame?: number) => any)[]}
   */
  const callbacks = [
    (info, _, frame) => say(frame, 'progress', info),
    (event, data, frame) => say(frame, 'notification', typeof event === 'string' ? { event, data } : event),
    (data, _, frame) => say(frame, 'notification', { event: 'notifications/capabilities/list_changed', data }),
    (request, _, frame) => {
      const messenger = attached.get(frame ?? 0);
      if (!messenger) return failure('NOT_INITIALIZED', 'No agent is attached');
      asked += 1;
      const id = request?.id ?? `question ${asked}`;
      return new Promise((resolve) => {
        messenger.questions.set(id, (answer) => resolve(answer ?? failure('DISCONNECTED', 'The agent is gone')));
        say(frame, 'elicitation/request', request, id);
      });
    },
  ];
  return Promise.all(
    callbacks.map(async (callback, index) => {
      try {
        await page.exposeFunction(String(NAMES[index]), callback);
      } catch {
        // If somebody has already exposed a function of that name, that function is called instead.
      }
    }),
  );
}
