//! The app of "Capabilities in workers": `app.rs` is what stands there, word for word.
mod app;
