//! A cancellation suite that anybody can run against any peer.
//!
//! The peer offers a tool that counts its own steps, and one that reads the count. So "cancelled" is compared with what
//! happened. The [requirements] of each dialect are frozen and numbered; the [scenarios] know no dialect.

pub mod app;
pub mod call;
pub mod context;
pub mod dialects;
pub mod expected;
pub mod finding;
pub mod http;
pub mod options;
pub mod peer;
pub mod report;
pub mod requirement;
pub mod requirements;
pub mod rpc;
pub mod scenarios;
pub mod suite;
pub mod wire;
