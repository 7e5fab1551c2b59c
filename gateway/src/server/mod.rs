//! A whole gateway: every part put together, started and stopped.

mod config;
mod descriptors;
mod error;
mod gateway;
mod layers;
mod stopping;

use std::future::Future;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::Router;
use futures_util::FutureExt;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use config::Config;
pub use error::Error;
pub use gateway::Gateway;

use crate::bounds::Turns;
use crate::gateway::Hub;
use crate::http::connections::Connections;
use crate::http::{Tls, pages};

/// A gateway that listens.
pub struct Server {
    listener: TcpListener,
    connections: Connections,
    gateway: Gateway,
}

impl Server {
    /// Binds the address. Connections wait until [`Server::run`].
    pub async fn bind(mut config: Config) -> Result<Server, Error> {
        config.check().map_err(Error::Config)?;
        let tls = config.tls.load().map_err(Error::Unusable)?;
        let (listener, address) = config.listen().await?;
        descriptors::fit(&mut config.limits, &mut config.http_limits);
        config.http_limits.fit();
        let limits = config.http_limits.clone();
        let pages = Router::new()
            .nest_service("/caphost", pages::package(&config.package))
            .fallback_service(pages::page(&config.www));
        let gateway = Gateway::assemble(config, address, tls.is_some())?;
        let connections = Connections {
            tls,
            router: gateway.routes(pages),
            limits,
            bounds: gateway.bounds(),
            handshakes: Turns::of_processors(),
            lifecycle: gateway.hub().lifecycle.clone(),
        };
        Ok(Server {
            listener,
            connections,
            gateway,
        })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        Ok(self.listener.local_addr()?)
    }

    /// `https` with TLS, else `http`.
    pub fn scheme(&self) -> &'static str {
        if self.connections.tls.is_some() {
            "https"
        } else {
            "http"
        }
    }

    /// The certificate, if the server serves TLS.
    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.connections.tls.as_ref()
    }

    /// The state that all connections share, for the integration tests.
    #[doc(hidden)]
    pub fn hub(&self) -> Arc<Hub> {
        self.gateway.hub()
    }

    /// Serves until `stop`. Then the gateway takes no new calls, gives calls in flight the drain time to end,
    /// tells every peer, and gives each peer the close timeout to leave.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let Server {
            listener,
            connections,
            gateway,
        } = self;
        let hub = gateway.hub();
        let running = gateway.start().await;
        let mut apart = JoinSet::new();
        if let Some(tls) = connections.tls.clone() {
            let interval = connections.limits.reload_interval;
            apart.spawn(async move {
                let keep_current = async || {
                    tls.keep_current(interval).await;
                    ControlFlow::Continue(())
                };
                hub.tasks.keep_going("certificate", keep_current).await;
            });
        }
        // A task of its own, so that it goes on while the gateway drains.
        let serving = tokio::spawn(connections.serve(listener));
        let task = serving.abort_handle();
        let serving = serving
            .map(|ended| ended.map_err(|error| error.to_string()))
            .shared();
        let fallen = serving.clone();
        let stop = async {
            tokio::select! {
                () = stop => {}
                _ = fallen => {}
            }
        };
        running.until(stop, serving.clone().map(drop)).await;
        if task.is_finished() {
            return serving
                .await
                .map_err(|error| std::io::Error::other(error).into());
        }
        task.abort();
        Ok(())
    }
}
