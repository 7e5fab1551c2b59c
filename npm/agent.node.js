import './wasm.node.js';
import './socket.node.js';

export * from './agent.js';
