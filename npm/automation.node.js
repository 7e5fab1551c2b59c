import './wasm.node.js';

export * from './automation.js';
