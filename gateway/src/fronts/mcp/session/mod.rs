//! Sessions of MCP before 2026-07-28, and the way of a message through one.
//!
//! | file | what it knows |
//! |---|---|
//! | `registry` | which sessions there are and whose, as the SDK asks for them |
//! | `state` | one session: where its messages go, and what ends it |
//! | `calls` | calls of tools, which do not pass the SDK |
//! | `exchanges` | the requests in flight, and cancels that come before theirs |
//! | `streams` | what one HTTP response carries, and the streams of what is no answer |
//! | `record` | what another worker has to know to take a session up |
//! | `table` | the sessions here, and what was told of those that are not |
//! | `others` | sessions that are on several workers: taking up, keeping, ending |
//! | `transport` | the session as the SDK reads from it and writes to it |
//!
//! Inside, each request has an id of the session's own: one that a client uses again, while a
//! handler it has cancelled is still stopping, must not get that handler's answer.

mod calls;
mod exchanges;
mod others;
mod record;
mod registry;
mod state;
mod streams;
mod table;
mod transport;

pub use calls::call_tool;
pub use others::{NotTaken, keep};
pub use registry::{Manager, Sessions};
pub use state::Session;
