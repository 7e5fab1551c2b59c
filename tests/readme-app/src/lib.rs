//! The Rust app of the README: `app.rs` is that block, word for word.
#[cfg(target_arch = "wasm32")]
mod app;
