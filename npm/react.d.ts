/**
 * `<cap-activity>` as `caphost/activity` has it, with its type in the JSX of React 18 and 19. Importing this defines
 * the element.
 */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { ActivityTexts, CapActivityElement } from './activity.js';

export * from './activity.js';

/** What `<cap-activity>` takes in JSX. */
export interface CapActivityProps extends DetailedHTMLProps<HTMLAttributes<CapActivityElement>, CapActivityElement> {
  /** The host whose agents are shown. React 18 sets no properties: give the host to the element in an effect. */
  host?: CapActivityElement['host'];
  /** What is said; what is left out is said in English. */
  texts?: (Partial<Omit<ActivityTexts, 'cancelled'>> & { cancelled?: Partial<ActivityTexts['cancelled']> }) | undefined;
  /** How many ended calls stay, 3 unless told otherwise. */
  keep?: number | string | undefined;
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'cap-activity': CapActivityProps;
    }
  }
}
