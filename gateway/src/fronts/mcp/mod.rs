//! MCP, the Model Context Protocol: the capabilities of an app as tools, over Streamable HTTP on `/mcp` and
//! `/mcp/<app id>`.
//!
//! | module | what it knows |
//! |---|---|
//! | `routes`, `server` | HTTP: whom a request is from, and what all requests share |
//! | `header`, `head` | MCP's own headers, and what they cannot carry as it is; what the HTTP head of a request must say |
//! | `request`, `requests` | the parameters of a request and its version; what answers each |
//! | `sessions`, `session`, `elsewhere` | sessions of versions before 2026-07-28: which there are, one of them, those that several workers have |
//! | `overtaken` | cancels in a session that came before their requests |
//! | `call`, `underway` | a call, from `tools/call` to the end of its response |
//! | `progress`, `result`, `content` | what a call says, and its result |
//! | `reply` | how an answer is sent: in one piece, or as a stream |
//! | `tools`, `schema` | capabilities as tools |
//! | `listening` | streams of what a client is told unasked |

mod call;
mod content;
mod elsewhere;
mod head;
pub(crate) mod header;
mod listening;
mod overtaken;
mod progress;
mod reply;
mod request;
mod requests;
pub(crate) mod result;
mod routes;
mod schema;
mod server;
mod session;
mod sessions;
#[cfg(test)]
mod tests;
mod tools;
mod underway;
mod wanted;

pub use routes::routes;
#[cfg(test)]
pub(crate) use session::LISTENING;
pub use sessions::McpOptions;
