//! Apps that come back: what an app's session is apart from its connection.
//!
//! | file | what it knows |
//! |---|---|
//! | [`delivery`] | which messages the other side has: counts and acknowledgements, nothing else |
//! | [`session`] | one session: what its app has not acknowledged, and where messages go just now |
//! | [`attached`] | one connection's hold on a session |
//! | [`queues`] | what waits for each peer, by peer; the sessions, by token |
//! | [`resuming`] | taking up, suspending and giving up sessions |
//! | [`messages`] | `app/registered`, `app/resume`, `app/resumed`, `app/lost` and `app/ack` |
//!
//! Locks are taken in this order: a session's way in, the hub's state, a session's way out, an
//! outbox.

mod attached;
mod delivery;
mod messages;
mod queues;
mod resuming;
mod session;

pub use attached::Attached;
pub use messages::{Lost, Resume};
pub(crate) use messages::{NOT_RESUMED, RESUME, ResumePayload, read, registered};
pub(crate) use queues::Queues;
pub use queues::SessionCounts;
