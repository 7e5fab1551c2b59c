//! Apps that come back. An app's session is separate from its connection.
//!
//! | file | contents |
//! |---|---|
//! | [`session`] | one session: its owner, and the messages received from its app |
//! | [`attached`] | the handle of one connection to a session |
//! | [`queues`] | the queues by peer; the sessions by token |
//! | [`resuming`] | resuming, suspending and giving up sessions |
//! | [`messages`] | `app/registered`, `app/resume`, `app/resumed`, `app/lost` and `app/ack` |
//!
//! The queue of a connection keeps the messages that the app has not acknowledged. The queue of the next
//! connection takes these messages over.
//!
//! Locks are taken in this order: a session's inbound side, the hub's state, an outbox.

mod attached;
mod messages;
mod queues;
mod resuming;
mod session;

pub use attached::Attached;
pub(crate) use attached::tell_app;
pub use messages::{Lost, Resume};
pub(crate) use messages::{NOT_RESUMED, RESUME, ResumePayload, read, registered};
pub(crate) use queues::Queues;
pub use queues::SessionCounts;
pub(crate) use session::AppSession;
