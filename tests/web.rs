//! The Rust interface of a host, in a real browser. No schemas here: their validator is an npm
//! package, and nothing bundles these tests.
#![cfg(target_arch = "wasm32")]

#[path = "web/support.rs"]
mod support;

#[path = "web/calls.rs"]
mod calls;
#[path = "web/cancels.rs"]
mod cancels;
#[path = "web/checkpoints.rs"]
mod checkpoints;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
