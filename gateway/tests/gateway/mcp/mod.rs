//! MCP over HTTP, with a WebSocket client as the app.

mod all_apps;
pub mod app;
mod bad_input;
mod bounded;
mod calls;
mod cancels;
pub mod client;
mod coercing;
mod sessions;
pub mod stateless;
mod stdio;
mod tasks;
mod tasks_alone;
mod tokens;
mod tools;
mod versions;
