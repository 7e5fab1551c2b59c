//! The runtime of RAP: the tools of other servers, as capabilities of apps.
//!
//! | module | what it knows |
//! |---|---|
//! | `app` | one tool server as an app on the relay |
//! | `toolset` | what a tool server offers, and whether it is there |
//! | `delivery` | getting an invocation to its tool server |
//! | `callbacks` | where results and events come in |
//! | `result` | a result as an outcome |
//! | `notices` | telling every tool server of a cancelled call or a closed thread |
//! | `requests` | HTTP to one tool server |
//! | `options`, `tool_server` | the command line |
//!
//! One call: the relay queues the agent's message for the app, which starts it and leaves the
//! invocation to a task of its own (`delivery`). The tool server posts the result to `callbacks`,
//! which puts it into the app's inbox, and the app answers the agent over the relay.
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

mod app;
mod callbacks;
mod delivery;
mod notices;
mod options;
mod requests;
mod result;
mod tool_server;
mod toolset;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::thread;

use axum::Router;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::LocalSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::gateway::Hub;
use crate::http_client;
use app::{Input, Parts};
use callbacks::{Receiver, Receivers};
use notices::Notices;
use requests::Requests;

pub use callbacks::CALLBACK_PATH;
pub use options::{RuntimeConfig, RuntimeLimits};
pub use tool_server::{ToolServer, parse_base};

/// The runtime, before it runs.
pub struct Runtime {
    hub: Arc<Hub>,
    requests: Vec<Arc<Requests>>,
    inboxes: Vec<(mpsc::Sender<Input>, mpsc::Receiver<Input>)>,
    receivers: Arc<Receivers>,
    public: Arc<str>,
    limits: Arc<RuntimeLimits>,
}

/// The runtime while it runs; dropping it ends it.
pub struct Started(#[expect(dead_code, reason = "held to be dropped")] Option<DropGuard>);

impl Runtime {
    /// A runtime for a gateway that listens on `address`, with TLS or not.
    pub fn new(config: RuntimeConfig, hub: Arc<Hub>, address: SocketAddr, tls: bool) -> Self {
        let RuntimeConfig {
            servers,
            public,
            limits,
        } = config;
        let limits = Arc::new(limits);
        let client = http_client::client(limits.invoke_timeout);
        let to = |server| {
            let (client, limits) = (client.clone(), limits.clone());
            Arc::new(Requests::new(server, client, limits, hub.metrics.clone()))
        };
        let requests: Vec<_> = servers.into_iter().map(to).collect();
        let inbox = |_| mpsc::channel(limits.callbacks_queued);
        let inboxes: Vec<_> = requests.iter().map(inbox).collect();
        let receivers = inboxes.iter().map(|(to, _)| Receiver::new(to.clone()));
        Runtime {
            receivers: Arc::new(Receivers {
                receivers: receivers.collect(),
                hub: hub.clone(),
            }),
            hub,
            requests,
            inboxes,
            public: public
                .map_or_else(|| own_url(address, tls), |url| url.to_string())
                .into(),
            limits,
        }
    }

    /// Where callbacks come in.
    pub fn routes(&self) -> Router {
        callbacks::routes(self.receivers.clone())
    }

    /// Begins to run, on a thread of its own where states are kept, with requests as tasks of the
    /// caller's runtime.
    pub fn start(self) -> io::Result<Started> {
        if self.requests.is_empty() {
            return Ok(Started(None));
        }
        let tasks = Handle::current();
        let over = CancellationToken::new();
        let notices = Notices::new(self.requests.clone(), tasks.clone(), self.limits.clone());
        let notices = Arc::new(notices);
        let each = self.requests.into_iter().zip(self.inboxes);
        let parts: Vec<_> = each
            .enumerate()
            .map(|(index, (requests, (to_inbox, inbox)))| {
                let (discovered, known) = watch::channel(None);
                let look = Arc::new(Notify::new());
                tasks.spawn(toolset::discover(
                    requests.clone(),
                    self.limits.clone(),
                    look.clone(),
                    discovered,
                ));
                Parts {
                    index,
                    hub: self.hub.clone(),
                    tasks: tasks.clone(),
                    requests,
                    notices: notices.clone(),
                    receivers: self.receivers.clone(),
                    public: self.public.clone(),
                    limits: self.limits.clone(),
                    look,
                    known,
                    to_inbox,
                    inbox,
                }
            })
            .collect();
        let timers = Builder::new_current_thread().enable_time().build()?;
        let told = over.clone();
        // The state of a host is not shared between threads.
        let run = move || {
            let local = LocalSet::new();
            for parts in parts {
                let (tasks, told) = (parts.hub.tasks.clone(), told.clone());
                local.spawn_local(async move {
                    tasks.report("tool server", app::run(parts, told)).await;
                });
            }
            timers.block_on(local);
        };
        thread::Builder::new()
            .name("rap-runtime".into())
            .spawn(run)?;
        Ok(Started(Some(over.drop_guard())))
    }
}

/// Where a gateway that listens on `address` is reached from this machine, at least.
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
