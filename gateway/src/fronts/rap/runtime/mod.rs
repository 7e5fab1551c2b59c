//! The runtime of RAP: the tools of other servers, as capabilities of apps.
//!
//! | module | contents |
//! |---|---|
//! | `app` | one tool server as an app on the broker |
//! | `toolset` | the offer of a tool server, and whether the server answers |
//! | `delivery` | delivering an invocation to its tool server |
//! | `callbacks` | receiving results and events |
//! | `result` | turning a result into an outcome |
//! | `client` | HTTP requests to tool servers |
//! | `options` | the command line |
//!
//! One call: the broker gives the call to the app. The app gives the invocation to a separate task
//! (`delivery`). The tool server posts the result to `callbacks`, which puts it into the app's inbox. The app
//! answers the agent over the broker.
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

mod app;
mod callbacks;
pub(crate) mod client;
mod delivery;
mod options;
mod result;
mod toolset;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::gateway::Hub;
use app::Parts;
use callbacks::CallbackEndpoint;
use client::{Notices, ToolServerClient};

pub use callbacks::CALLBACK_PATH;
pub use options::{RuntimeConfig, RuntimeLimits, ToolServer};

/// How many callbacks of one tool server are queued. Further callbacks are not read until there is room.
const CALLBACKS_QUEUED: usize = 256;

/// The runtime before it starts.
pub struct Runtime {
    servers: Vec<Parts>,
}

impl Runtime {
    /// A runtime for a gateway that listens on `address`, with or without TLS. Its requests are tasks of the
    /// Tokio runtime that calls this function.
    pub fn new(config: RuntimeConfig, hub: Arc<Hub>, address: SocketAddr, tls: bool) -> Self {
        let RuntimeConfig {
            servers,
            public,
            limits,
        } = config;
        let public = public.map_or_else(|| own_url(address, tls), |url| url.to_string());
        let client = |server| {
            let (limits, metrics) = (limits.clone(), hub.metrics.clone());
            Arc::new(ToolServerClient::new(server, limits, metrics))
        };
        let clients: Vec<_> = servers.into_iter().map(client).collect();
        let notices = Arc::new(Notices(clients.clone()));
        let parts = |client| {
            let (to_inbox, inbox) = mpsc::channel(CALLBACKS_QUEUED);
            Parts {
                hub: hub.clone(),
                client,
                notices: notices.clone(),
                callbacks: Arc::new(CallbackEndpoint::new(&public, to_inbox, &hub)),
                look: Arc::default(),
                inbox,
            }
        };
        let servers = clients.into_iter().map(parts).collect();
        Runtime { servers }
    }

    /// The route for callbacks.
    pub fn routes(&self) -> Router {
        let endpoints = self.servers.iter().map(|it| it.callbacks.clone());
        callbacks::routes(endpoints.collect())
    }

    /// Starts the runtime as tasks. It stops when the returned guard is dropped.
    pub fn start(self) -> Option<DropGuard> {
        if self.servers.is_empty() {
            return None;
        }
        let over = CancellationToken::new();
        for parts in self.servers {
            let (tasks, told) = (parts.hub.tasks.clone(), over.clone());
            tokio::spawn(async move {
                tasks.report("tool server", app::run(parts, told)).await;
            });
        }
        Some(over.drop_guard())
    }
}

/// A URL of a gateway that listens on `address`, for clients on this machine at least.
fn own_url(address: SocketAddr, tls: bool) -> String {
    let mut reached = address;
    if address.ip().is_unspecified() {
        reached.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{reached}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_on_all_addresses_is_reached_on_loopback() {
        let url = |address: &str, tls| own_url(address.parse().unwrap(), tls);
        assert_eq!(url("127.0.0.2:80", false), "http://127.0.0.2:80");
        assert_eq!(url("0.0.0.0:8080", true), "https://127.0.0.1:8080");
        assert_eq!(url("[::]:1", false), "http://[::1]:1");
    }
}
