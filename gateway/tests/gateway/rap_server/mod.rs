//! The RAP tool server over real HTTP, with an app on a WebSocket and a runtime that invokes, cancels and
//! receives callbacks.

mod admission;
pub mod app;
mod bounds;
mod callback_addresses;
mod callbacks;
mod delivery;
mod discovery;
mod endings;
mod fields;
mod invocations;
mod isolation;
mod latency;
mod notifications;
pub mod runtime;
