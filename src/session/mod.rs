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
mod consent;
mod elicitation;
mod late;
mod limits;
mod liveness;
mod progress;
mod records;
mod scope;
mod shares;
mod slots;
mod state;
mod stopping;
mod terms;
#[cfg(test)]
mod tests;
mod tree;

pub use action::{Action, Answer, Asked, CallEvent, CallState, ReplyTo};
pub use limits::Limits;
pub use scope::{Names, Scope};
pub use state::{Counters, HostState};
pub use terms::{
    Agent, CallRequest, CancelKey, Cancelled, Changes, ConnectionId, ElicitationKey, Features,
    Initialize, Initialized, Party, Question,
};
