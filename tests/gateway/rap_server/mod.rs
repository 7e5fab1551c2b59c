//! The RAP tool server over real HTTP: an app on a WebSocket, and a runtime that invokes, cancels
//! and takes callbacks.

mod admission;
mod app;
mod callbacks;
mod delivery;
mod discovery;
mod invocations;
mod isolation;
mod latency;
mod notifications;
mod runtime;
