import './wasm.node.js';
import { socketFrom } from '../src/web/js/socket.js';

// Node 20 has no WebSocket of its own.
socketFrom(() => globalThis.WebSocket ?? import('ws').then(({ WebSocket }) => WebSocket, () => undefined));

export * from './agent.js';
