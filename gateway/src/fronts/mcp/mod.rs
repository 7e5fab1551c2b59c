//! MCP, the Model Context Protocol: the capabilities of an app as tools, over Streamable HTTP on `/mcp` and
//! `/mcp/<app id>`.
//!
//! | module | contents |
//! |---|---|
//! | `routes`, `server`, `caller` | HTTP; the state that all requests share; the sender of a request |
//! | `header`, `head` | MCP's own headers and their encoding; the rules for the HTTP head of a request |
//! | `request`, `requests` | the parameters and the version of a request; the answers to requests |
//! | `sessions`, `session`, `sealing`, `elsewhere` | sessions of versions before 2026-07-28: the table, one session, its id, and what workers tell each other of sessions |
//! | `overtaken` | cancels of a session that come before their requests |
//! | `call`, `tool`, `underway`, `parked` | a call, from `tools/call` to the end of its response; the tool that it means; calls that wait for an answer of their client |
//! | `tasks` | calls that outlive the response to their request |
//! | `links`, `resources` | what is too large for a result, and `resources/read` |
//! | `progress`, `questions`, `result`, `content` | the progress of a call, its questions to the client, and its result |
//! | `reply` | how an answer is sent: in one piece, or as a stream |
//! | `tools`, `schema` | capabilities as tools |
//! | `listening` | streams of messages that answer no request |

mod call;
mod caller;
mod content;
mod elsewhere;
mod head;
pub(crate) mod header;
mod links;
mod listening;
mod overtaken;
mod parked;
mod progress;
pub(in crate::fronts) mod questions;
mod reply;
mod request;
mod requests;
mod resources;
pub(crate) mod result;
mod routes;
mod schema;
mod sealing;
mod server;
mod session;
mod sessions;
mod tasks;
#[cfg(test)]
mod tests;
mod tool;
mod tools;
mod underway;
mod wanted;

pub use routes::routes;
#[cfg(test)]
pub(crate) use sealing::LIFETIME;
#[cfg(test)]
pub(crate) use session::LISTENING;
#[cfg(test)]
pub(crate) use sessions::ENDED;
pub use sessions::McpOptions;
