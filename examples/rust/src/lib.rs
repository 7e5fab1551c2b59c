//! The Rust app of the documentation: `app.rs` is that block, word for word.
#[cfg(target_arch = "wasm32")]
mod app;
#[cfg(target_arch = "wasm32")]
pub use app::*;
