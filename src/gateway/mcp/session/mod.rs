//! Sessions of MCP before 2026-07-28, and the way of a message through one.
//!
//! | file | what it knows |
//! |---|---|
//! | `registry` | which sessions there are and whose, as the SDK asks for them |
//! | `state` | one session: the requests in flight and the streams their answers go to |
//! | `listening` | the streams of what is no answer |
//! | `overtaken` | cancels that come before their requests |
//! | `stream` | a response stream; closing it cancels the request it belongs to |
//! | `transport` | the session as the SDK reads from it and writes to it |
//!
//! Inside, each request has an id of the session's own: one that a client uses again, while a
//! handler it has cancelled is still stopping, must not get that handler's answer.

mod listening;
mod overtaken;
mod registry;
mod state;
mod stream;
mod transport;

pub use registry::{Manager, Sessions};
pub use state::Ticket;
