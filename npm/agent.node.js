import './wasm.node.js';

export * from './agent.js';
