import './wasm.node.js';

export * from './index.js';
