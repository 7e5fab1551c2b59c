import { createHost } from 'caphost';

// A hot reload runs this module again. A window can have only one host, so the previous host is closed first.
import.meta.hot?.data.host?.close();

/** The one host of the page. It belongs to no component, because components come and go. */
export const host = await createHost({ app: { id: 'notes', name: 'Notes', version: '1.0.0' } });
host.expose();
host.acceptMessages();

if (import.meta.hot) import.meta.hot.data.host = host;
