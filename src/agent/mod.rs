//! The caller's half: pending calls, and cancels that await their confirmation.
//!
//! [`AgentState`] is a pure state machine like [`crate::session::HostState`]: its methods are the
//! events, and each puts what is to be done into a queue of [`Action`]s. Whatever the host does or
//! fails to do, every call, cancel and list settles exactly once, and a call and its cancels never
//! contradict each other.

mod action;
mod calls;
mod cancels;
mod end;
mod late;
mod lists;
mod liveness;
mod probes;
mod records;
mod replies;
mod state;
#[cfg(test)]
mod tests;

pub use action::{Action, CancelOutcome, Outgoing, Request, RequestKey, Settled};
pub use state::{AgentOptions, AgentState};
