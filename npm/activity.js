/**
 * `<cap-activity>`, for apps that show people what agents do. It costs nothing unless it is imported.
 */
import { CapActivityElement } from '../src/web/js/activity/element.js';

export { activityOf } from '../src/web/js/activity/activity.js';
export { CapActivityElement };

const elements = globalThis.customElements;
if (elements && !elements.get('cap-activity')) elements.define('cap-activity', CapActivityElement);
