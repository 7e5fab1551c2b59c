/** The JavaScript that wasm-bindgen writes for a wasm module of the package, as far as the package uses it. */

/** Has the functions work with these exports of the module. */
export function __wbg_set_wasm(exports: WebAssembly.Exports): void;
/** The functions of a host; only in the module of hosts. */
export const hostHandle: () => any;
/** The functions of an agent; only in the module of agents. */
export const agentHandle: () => any;
