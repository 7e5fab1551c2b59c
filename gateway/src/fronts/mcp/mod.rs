//! MCP, the Model Context Protocol: the capabilities of an app as tools, over Streamable HTTP on
//! `/mcp` and `/mcp/<app id>`.
//!
//! | module | what it knows |
//! |---|---|
//! | `routes`, `head`, `request`, `refusal`, `early` | HTTP: whom a request is from, what is no message, errors in JSON-RPC, heads before bodies |
//! | [`session`] | sessions of versions before 2026-07-28, requests in flight, streams |
//! | `handler` | what the SDK asks of a server |
//! | `stateless` | the way to the app of requests without a session |
//! | `call`, `progress`, `result`, [`content`] | a call, from `tools/call` to its result |
//! | [`tools`], [`schema`] | capabilities as tools |
//! | `watch`, `log_level` | what a client is told unasked |

mod call;
mod caller;
pub mod content;
mod early;
mod handler;
mod head;
mod log_level;
mod options;
mod progress;
mod refusal;
mod request;
mod result;
mod routes;
pub mod schema;
pub mod session;
mod stateless;
pub mod tools;
#[cfg(test)]
mod vectors;
mod watch;

pub use options::McpOptions;
pub use routes::routes;
