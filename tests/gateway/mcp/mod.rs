//! MCP over HTTP, with a WebSocket client as the app.

mod app;
mod bad_input;
mod calls;
mod cancels;
mod client;
mod sessions;
mod stateless;
mod stdio;
mod tokens;
mod tools;
