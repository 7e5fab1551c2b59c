//! Agents on a host: initialize, calls, cancels, shutdown.
//!
//! [`HostState`] is a pure state machine. Its methods are the events; each puts what is to be done
//! into a queue of [`Action`]s, which the shell takes out with [`HostState::poll_action`] until it
//! is empty, *after* it has let go of every borrow: an action may run an app's code, which may
//! call back. Executing actions strictly in the order they come out is all the shell must do for
//! the rules of a call to hold.

mod action;
mod calls;
mod cancels;
mod changes;
mod connection;
mod elicitation;
mod late;
mod limits;
mod progress;
mod scope;
mod shares;
mod slots;
mod state;
mod stopping;
#[cfg(test)]
mod tests;
mod tree;

pub use action::{Action, Answer, CallEvent, CallState, ReplyTo};
pub use calls::CallRequest;
pub use cancels::Cancelled;
pub use changes::Changes;
pub use connection::{Agent, Features, Initialize, Initialized};
pub use elicitation::Question;
pub use limits::Limits;
pub use scope::{Names, Scope};
pub use shares::Party;
pub use state::{Counters, HostState};

/// Names one agent's connection to a host. Never reused while the host lives.
pub type ConnectionId = u32;

/// Names one cancel by the app itself. Never reused while the host lives.
pub type CancelKey = u32;

/// Names one question to an agent. Never reused while the host lives.
pub type ElicitationKey = u32;
