//! Stands in for the executor where no capability is written in Rust.

use wasm_bindgen::JsValue;

use crate::call::Response;

pub(super) struct RustCalls;

impl RustCalls {
    pub fn new(_: u32) -> Self {
        RustCalls
    }

    pub fn tasks(&self) -> usize {
        0
    }

    pub fn stop(&self, _: u32, _: Option<&str>) {}

    pub fn ended(&self, _: u32) {}

    pub fn hand_over(&self, _: u32, response: Response<JsValue>) -> Option<Response<JsValue>> {
        Some(response)
    }
}
