//! A gateway between browser apps and agents: `caphost serve`, and the command line around it.
//!
//! A program that embeds a gateway fills in a [`Config`], binds a [`Server`] and runs it. A program that has an
//! axum server of its own serves the routes of a [`Gateway`] beside its own.
//!
//! ```no_run
//! use caphost_gateway::{Config, Server};
//!
//! # async fn serve(stop: impl Future<Output = ()>) -> Result<(), caphost_gateway::Error> {
//! let server = Server::bind(Config::default()).await?;
//! println!("{}://{}/", server.scheme(), server.address()?);
//! server.run(stop).await
//! # }
//! ```
//!
//! Without the default feature `cli` the crate is a library only: it leaves out the command line and the
//! libraries that only the command line needs.
//!
//! Each module has one task: see "How it is built" in its README.md.
//!
//! The broker never parses a payload into a tree. It checks that every later reader can read the payload, and
//! passes the payload on as it came.

// The command line shares parts of the library that nothing else uses.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod bounds;
mod broker;
#[cfg(feature = "cli")]
pub mod cli;
mod cluster;
mod count;
mod fronts;
mod gateway;
mod http;
mod http_client;
mod http_url;
mod limits;
mod log;
mod options;
mod pauses;
mod refusals;
mod remembered;
mod seldom;
mod server;
mod session_key;
mod tokens;
mod wire;

pub use cluster::ClusterOptions;
pub use fronts::contextforge::CancellationOptions;
pub use fronts::mcp::McpOptions;
pub use fronts::rap::runtime::{RuntimeConfig, RuntimeLimits, ToolServer};
pub use fronts::rap::server::{AllowedHost, Options as RapOptions};
pub use http::{DEFAULT_CONTENT_SECURITY_POLICY, FrameAncestors, HttpLimits, TlsOptions};
pub use limits::{Limits, Retention};
pub use server::{Config, Error, Gateway, Server};
pub use session_key::SessionKey;
pub use tokens::{Identity, Role, Token, Tokens};

/// Not part of the interface. The integration tests use this to look at state that a client of a running
/// gateway does not see, and to drive parts without a socket.
#[doc(hidden)]
pub mod for_tests {
    pub use crate::broker::calls::{Dialect, Found, RunState};
    pub use crate::broker::{Event, PeerId, Seat};
    pub use crate::cluster::Notice;
    #[cfg(feature = "cli")]
    pub use crate::fronts::stdio::mcp::{Endpoint, carry};
    pub use crate::gateway::calls::{CancelNotice, Client, NewCall};
    pub use crate::gateway::metrics::Metrics;
    pub use crate::gateway::{Attached, Connected, Hub, Lost, Outbox, OutboxStep, Outcome, Resume};
}
