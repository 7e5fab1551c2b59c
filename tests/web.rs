//! The Rust interface of hosts and agents, in a real browser and without a bundler.
#![cfg(target_arch = "wasm32")]

#[path = "web/support.rs"]
mod support;

#[path = "web/agents.rs"]
mod agents;
#[path = "web/attribute.rs"]
mod attribute;
#[path = "web/calls.rs"]
mod calls;
#[path = "web/cancels.rs"]
mod cancels;
#[path = "web/checkpoints.rs"]
mod checkpoints;
#[path = "web/consent.rs"]
mod consent;
#[path = "web/errors.rs"]
mod errors;
#[path = "web/schemas.rs"]
mod schemas;
#[path = "web/signals.rs"]
mod signals;
#[path = "web/watching.rs"]
mod watching;
#[path = "web/workers.rs"]
mod workers;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
