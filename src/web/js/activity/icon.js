/**
 * An icon for each state of a call. Each has its own shape, so that nobody needs to tell colours apart.
 */

/** @import { ActivityCall } from '../../../../npm/activity.js' */

const SVG = 'http://www.w3.org/2000/svg';

/** Strokes in a square of 16. */
const SHAPES = {
  queued: 'M8 4.5V8l2.5 1.5M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8',
  asking: 'M5.4 5.8a2.6 2.6 0 1 1 3.7 2.4c-.7.4-1.1.9-1.1 1.7m0 2.6v.2',
  running: 'M5 3.2v9.6L12.8 8z',
  cancelling: 'M2 8h1.6m2 0h1.6m2 0h.6M12.5 3v10',
  completed: 'm2.8 8.6 3.5 3.4 6.9-7.6',
  failed: 'm3.8 3.8 8.4 8.4m0-8.4-8.4 8.4',
  cancelled: 'M3.5 3.5h9v9h-9z',
  unsure: 'M8 2 14.6 13.8H1.4zM8 6.4v3.4m0 1.9v.2',
};

/** The name of the icon, which is also a part of the card. @param {ActivityCall} call @returns {keyof typeof SHAPES} */
export function signOf({ state, stopping, asks, stop, ended }) {
  if (stopping) return 'cancelling';
  if (asks) return 'asking';
  return state === 'cancelled' && (stop ?? 'abandoned') === 'abandoned' && !ended ? 'unsure' : state;
}

/** The icon is a decoration: the words beside it say the same. */
export class Icon {
  element = document.createElementNS(SVG, 'svg');
  #path = document.createElementNS(SVG, 'path');

  constructor() {
    this.element.setAttribute('viewBox', '0 0 16 16');
    this.element.setAttribute('aria-hidden', 'true');
    this.element.setAttribute('class', 'icon');
    this.element.setAttribute('part', 'icon');
    this.element.append(this.#path);
  }

  /** @param {keyof typeof SHAPES} sign */
  show(sign) {
    const shape = SHAPES[sign];
    if (this.#path.getAttribute('d') !== shape) this.#path.setAttribute('d', shape);
  }
}
