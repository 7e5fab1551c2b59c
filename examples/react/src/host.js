import { createHost } from 'caphost';

// A hot reload runs this module again, and one window has one host: the one from before goes first.
import.meta.hot?.data.host?.close();

/** One host for the page. It belongs to no component: those come and go. */
export const host = await createHost({ app: { id: 'notes', name: 'Notes', version: '1.0.0' } });
host.expose();
host.acceptMessages();

if (import.meta.hot) import.meta.hot.data.host = host;
