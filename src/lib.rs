//! caphost is a capability host for browser apps.
//!
//! A web app offers *capabilities* that take seconds to minutes. An agent calls them, may stop each
//! of them, and is told how far it was seen to stop. See `README.md` for the whole picture.
//!
//! | module | what it knows |
//! |---|---|
//! | [`call`] | one call's life: id, states, ledger, deadlines, queue, parents and children |
//! | [`capability`] | what a capability is: descriptor, registry, the future that runs it |
//! | [`session`] | agents on a host: initialize, calls, cancels, shutdown |
//! | [`agent`] | the caller's half: pending calls, cancels awaiting confirmation |
//! | `web` | wasm32 only: JavaScript API, AbortSignal bridge, browser transports |
//!
//! The first four are sans-IO: events in, actions out, time passed in as an argument.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod agent;
pub mod call;
pub mod capability;
pub mod session;

#[cfg(target_arch = "wasm32")]
pub mod web;
#[cfg(target_arch = "wasm32")]
pub use web::{App, CallContext, Capability, Error, Host, Progress, WorkerModule, worker};
