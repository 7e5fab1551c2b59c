//! The app of "Capabilities in workers": `app.rs` is the code in that document, word for word.
mod app;
