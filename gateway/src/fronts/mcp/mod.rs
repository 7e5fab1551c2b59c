//! MCP, the Model Context Protocol: the capabilities of an app as tools, over Streamable HTTP on
//! `/mcp` and `/mcp/<app id>`.
//!
//! | module | what it knows |
//! |---|---|
//! | `routes` | HTTP: whom a request is from, and which part answers it |
//! | `request` | the parameters of a request, its version, and what its HTTP head must say |
//! | `sessions`, `session`, `elsewhere` | sessions of versions before 2026-07-28: which there are, one of them, those that several workers have |
//! | `call`, `underway` | a call, from `tools/call` to the end of its response |
//! | `progress`, `result`, `content` | what a call says, and its result |
//! | `tools`, `schema` | capabilities as tools |
//! | `listening` | streams of what a client is told unasked |

mod call;
mod content;
mod elsewhere;
mod listening;
mod overtaken;
mod progress;
mod request;
mod requests;
mod result;
mod routes;
mod schema;
mod server;
mod session;
mod sessions;
mod tools;
mod underway;
#[cfg(test)]
mod vectors;

pub use routes::routes;
#[cfg(test)]
pub(crate) use session::LISTENING;
pub use sessions::McpOptions;
