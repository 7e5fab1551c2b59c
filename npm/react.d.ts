/**
 * `<cap-activity>` of `caphost/activity`, with its type in the JSX of React 18 and 19. Importing this
 * module defines the element.
 */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { ActivityTexts, CapActivityElement } from './activity.js';

export * from './activity.js';

/** The props of `<cap-activity>` in JSX. */
export interface CapActivityProps extends DetailedHTMLProps<HTMLAttributes<CapActivityElement>, CapActivityElement> {
  /** The host whose calls are shown. React 18 sets no properties: give the host to the element in an effect. */
  host?: CapActivityElement['host'];
  /** The texts. Texts that you leave out are in English. */
  texts?: (Partial<Omit<ActivityTexts, 'cancelled'>> & { cancelled?: Partial<ActivityTexts['cancelled']> }) | undefined;
  /** The number of ended calls that stay. Default 3. */
  keep?: number | string | undefined;
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'cap-activity': CapActivityProps;
    }
  }
}
