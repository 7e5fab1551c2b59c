//! Agents on a host: initialize, calls, cancels, shutdown.
//!
//! [`HostState`] is a pure state machine. Its methods are the events. Each event puts actions into
//! a queue, and the shell takes them out with [`HostState::poll_action`] until the queue is empty.
//! The shell does so *after* it has released every borrow, because an action may run an app's code,
//! which may call back. The rules of a call hold if the shell executes all actions strictly in
//! order.

mod action;
mod calls;
mod cancels;
mod changes;
mod connection;
mod elicitation;
mod late;
mod limits;
mod liveness;
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
