//! HTTP, WebSockets, queues and signals around the relay.

mod answer;
mod auth;
mod guard;
mod headers;
mod hub;
mod outbox;
mod pages;
mod rate_limit;
mod reader;
mod runs;
mod upgrade;
mod writer;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

pub use auth::{CHALLENGE, authenticate, bearer};
pub use guard::parse_origin;
pub use headers::DEFAULT_CONTENT_SECURITY_POLICY;
pub use hub::Hub;
pub use outbox::Step as OutboxStep;
pub use rate_limit::RateLimiter;

use super::limits::Limits;
use super::relay::Event;
use super::tokens::Tokens;
use guard::Guard;
use headers::Policy;

/// How a gateway is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0 lets the system pick one.
    pub address: SocketAddr,
    /// The name it was told to listen on, one of its own.
    pub host: String,
    /// The demo page, served at `/`.
    pub www: PathBuf,
    /// The npm package, served under `/caphost/`.
    pub package: PathBuf,
    /// Origins that may open WebSockets, besides its own.
    pub allow_origins: Vec<String>,
    /// Sent with every answer, if given.
    pub content_security_policy: Option<HeaderValue>,
    /// Who may connect as what.
    pub tokens: Tokens,
    /// The bounds.
    pub limits: Limits,
}

/// A gateway that listens.
pub struct Server {
    listener: TcpListener,
    router: Router,
    hub: Arc<Hub>,
}

impl Server {
    /// Binds the address. Connections wait until [`Server::run`].
    pub async fn bind(config: Config) -> io::Result<Server> {
        let listener = TcpListener::bind(config.address).await?;
        let address = listener.local_addr()?;
        let loopback = address.ip().is_loopback();
        let guard = Guard::new(
            address.port(),
            loopback,
            &config.host,
            &config.allow_origins,
        );
        let policy = Policy {
            guard,
            content_security_policy: config.content_security_policy,
        };
        let hub = Arc::new(Hub::new(config.limits, config.tokens));
        let router = Router::new()
            .route("/abp", any(upgrade::agent))
            .route("/abp/app", any(upgrade::app))
            .with_state(hub.clone())
            .route(
                "/abp.json",
                pages::manifest(hub.clone(), config.www.clone()),
            )
            .nest_service("/caphost", pages::files(&config.package))
            .fallback_service(pages::files(&config.www))
            .layer(from_fn_with_state(Arc::new(policy), headers::apply));
        Ok(Server {
            listener,
            router,
            hub,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What all connections share.
    pub fn hub(&self) -> Arc<Hub> {
        self.hub.clone()
    }

    /// Serves until `stop`, then tells every peer and gives each the close timeout to leave.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Server {
            listener,
            router,
            hub,
        } = self;
        let listener = listener.tap_io(|stream| {
            // Messages are small and awaited: Nagle's algorithm only delays them.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY");
            }
        });
        let stopping = watch::Sender::new(false);
        let mut told = stopping.subscribe();
        let stopped = async move {
            let _ = told.wait_for(|stopping| *stopping).await;
        };
        let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);
        let mut serving = tokio::spawn(serving.into_future());
        tokio::select! {
            () = stop => {}
            ended = &mut serving => return ended.map_err(io::Error::other)?,
        }
        tracing::info!(counters = ?hub.counters(), "stopping");
        stopping.send_replace(true);
        hub.handle(Event::Shutdown);
        let grace = hub.limits.close_timeout + Duration::from_millis(500);
        let _ = timeout(grace, async {
            hub.deserted().await;
            let _ = (&mut serving).await;
        })
        .await;
        serving.abort();
        Ok(())
    }
}
