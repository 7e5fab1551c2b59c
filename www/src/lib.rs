//! The demo app.
