//! The runtime of RAP: the tools of other servers, as capabilities of apps.
//!
//! | module | what it knows |
//! |---|---|
//! | `bridge` | one tool server as an app on the relay |
//! | `callbacks` | where results and events come in |
//! | `notices` | telling every tool server of a cancelled call or a closed thread |
//! | `discovery` | what a tool server offers, and whether it is there |
//! | `delivery` | getting an invocation to its tool server |
//! | `requests` | HTTP to one tool server |
//! | `result`, `toolset` | a result as an outcome, a toolset as capabilities |
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

mod bridge;
mod callbacks;
mod counters;
mod delivery;
mod discovery;
mod errand;
mod limits;
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
use url::Url;

use crate::gateway::Hub;
use crate::http_client;
use bridge::{Input, Parts};
use callbacks::{Receiver, Receivers};
use notices::Notices;
use requests::Requests;

pub use callbacks::CALLBACK_PATH;
pub use counters::{Count, Counters};
pub use limits::RuntimeLimits;
pub use options::ToolServerOptions;
pub use tool_server::{ToolServer, parse_base};

/// How the runtime is set up.
#[derive(Clone, Debug, Default)]
pub struct RuntimeConfig {
    /// The tool servers.
    pub servers: Vec<ToolServer>,
    /// Where tool servers reach the gateway, if not at the address it listens on.
    pub public: Option<Url>,
    /// The bounds.
    pub limits: RuntimeLimits,
}

impl RuntimeConfig {
    /// The origin of the URL at which the gateway is reached: a name of its own.
    pub fn public_origin(&self) -> Option<String> {
        let public = self.public.as_ref()?;
        Some(public.origin().ascii_serialization())
    }
}

/// The runtime, before it runs.
pub struct Runtime {
    requests: Vec<Arc<Requests>>,
    inboxes: Vec<(mpsc::Sender<Input>, mpsc::Receiver<Input>)>,
    receivers: Arc<Receivers>,
    public: Arc<str>,
    limits: Arc<RuntimeLimits>,
    counters: Arc<Counters>,
}

/// The runtime while it runs; dropping it ends it.
pub struct Started(#[expect(dead_code, reason = "held to be dropped")] Option<DropGuard>);

impl Runtime {
    /// A runtime for a gateway that listens on `address`, with TLS or not, and takes callbacks of
    /// at most `max_bytes` bytes.
    pub fn new(config: RuntimeConfig, address: SocketAddr, tls: bool, max_bytes: usize) -> Self {
        let RuntimeConfig {
            servers,
            public,
            limits,
        } = config;
        let (limits, counters) = (Arc::new(limits), Arc::<Counters>::default());
        let client = http_client::client(limits.invoke_timeout);
        let to = |server| {
            let (client, limits) = (client.clone(), limits.clone());
            Arc::new(Requests::new(server, client, limits, counters.clone()))
        };
        let requests: Vec<_> = servers.into_iter().map(to).collect();
        let inbox = |_| mpsc::channel(limits.callbacks_queued);
        let inboxes: Vec<_> = requests.iter().map(inbox).collect();
        let receivers = inboxes.iter().map(|(to, _)| Receiver::new(to.clone()));
        Runtime {
            receivers: Arc::new(Receivers {
                receivers: receivers.collect(),
                counters: counters.clone(),
                max_bytes,
            }),
            requests,
            inboxes,
            public: public
                .map_or_else(|| own_url(address, tls), |url| url.to_string())
                .into(),
            limits,
            counters,
        }
    }

    /// Where callbacks come in.
    pub fn routes(&self) -> Router {
        callbacks::routes(self.receivers.clone())
    }

    /// What is counted.
    pub fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// Begins to run, on a thread of its own where states are kept, with requests as tasks of the
    /// caller's runtime.
    pub fn start(self, hub: &Arc<Hub>) -> io::Result<Started> {
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
                tasks.spawn(discovery::discover(
                    requests.clone(),
                    self.limits.clone(),
                    look.clone(),
                    discovered,
                ));
                Parts {
                    index,
                    hub: hub.clone(),
                    tasks: tasks.clone(),
                    requests,
                    notices: notices.clone(),
                    receivers: self.receivers.clone(),
                    public: self.public.clone(),
                    limits: self.limits.clone(),
                    counters: self.counters.clone(),
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
                    tasks.report("tool server", bridge::run(parts, told)).await;
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

    #[test]
    fn the_public_url_is_an_origin() {
        let config = RuntimeConfig {
            public: Some("https://Gateway.example:443/caphost/".parse().unwrap()),
            ..RuntimeConfig::default()
        };
        assert_eq!(
            config.public_origin().as_deref(),
            Some("https://gateway.example")
        );
    }
}
