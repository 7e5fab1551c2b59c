//! The fronts: one for each kind of client.

pub mod abp;
pub mod apps;
pub mod auth;
pub(crate) mod body;
mod coerce;
pub mod contextforge;
pub mod files;
mod idle;
pub mod jsonrpc;
pub(crate) mod kept;
pub(crate) mod lists;
pub mod mcp;
pub mod media_type;
pub mod rap;
pub(crate) mod refusal;
mod rpc;
pub mod runs;
mod shared_sessions;
mod silence;
pub mod socket;
#[cfg(feature = "cli")]
pub mod stdio;
