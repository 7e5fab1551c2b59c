//! The app of "Capabilities in workers": `app.rs` is what stands there, word for word.
#[cfg(target_arch = "wasm32")]
mod app;
