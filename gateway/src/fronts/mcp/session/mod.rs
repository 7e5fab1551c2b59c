//! Sessions of MCP before 2026-07-28, and the way of a message through one.
//!
//! | file | what it knows |
//! |---|---|
//! | `registry` | which sessions there are and whose, as the SDK asks for them |
//! | `state` | one session: the requests in flight and the streams their answers go to |
//! | `listening` | the streams of what is no answer |
//! | `overtaken` | cancels that come before their requests |
//! | `record` | what another worker has to know to take a session up |
//! | `table` | the sessions here, and what was told of those that are not |
//! | `others` | sessions that are on several workers: taking up, keeping, ending |
//! | `stream` | a response stream; closing it cancels the request it belongs to |
//! | `transport` | the session as the SDK reads from it and writes to it |
//!
//! Inside, each request has an id of the session's own: one that a client uses again, while a
//! handler it has cancelled is still stopping, must not get that handler's answer.

mod listening;
mod others;
mod overtaken;
mod record;
mod registry;
mod state;
mod stream;
mod table;
mod transport;

pub use others::{NotTaken, keep};
pub use registry::{Manager, Sessions};
pub use state::Ticket;
