//! The wasm modules of the npm package. The build makes one for each role, by feature.

use wasm_bindgen::prelude::*;

/// The allocator of the standard library, compiled for size as all else is: the library comes compiled for speed.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The functions of a host that its JavaScript calls.
#[cfg(feature = "host")]
#[wasm_bindgen(js_name = hostHandle)]
pub fn host_handle() -> JsValue {
    caphost::web::host::HostHandle::class()
}

/// The functions of an agent that its JavaScript calls.
#[cfg(feature = "agent")]
#[wasm_bindgen(js_name = agentHandle)]
pub fn agent_handle() -> JsValue {
    caphost::web::AgentHandle::class()
}
