//! The Rust app of the documentation: `app.rs` is that block, word for word.
mod app;
pub use app::*;
