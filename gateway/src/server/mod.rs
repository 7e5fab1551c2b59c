//! A whole gateway: every part put together, started and stopped.

mod config;
mod descriptors;
mod layers;
mod stopping;

use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::IntoResponse;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

pub use config::Config;

use crate::bounds::turns::Turns;
use crate::cluster::{Cluster, WorkerProfile};
use crate::fronts::body::BodyBounds;
use crate::fronts::rap::runtime::Runtime;
use crate::fronts::refusal::{FastApi, JsonRpc, Refusal, Write};
use crate::fronts::socket::bounds::SocketBounds;
use crate::fronts::{abp, apps, contextforge, jsonrpc, mcp, rap, runs};
use crate::gateway::{Elsewhere, Hub};
use crate::http::connections::Connections;
use crate::http::guard::Guard;
use crate::http::headers::Policy;
use crate::http::rate::RequestRate;
use crate::http::{Tls, health, pages};
use layers::Layers;

/// How long to wait for a cluster's other workers to introduce themselves before accepting connections.
const MEET: Duration = Duration::from_secs(1);
/// How often the metrics are summed up.
const SUM_UP: Duration = Duration::from_secs(5);

/// A gateway that listens.
pub struct Server {
    listener: TcpListener,
    connections: Connections,
    hub: Arc<Hub>,
    /// The other workers, in a cluster.
    elsewhere: Option<Arc<Elsewhere>>,
    tool_servers: Runtime,
    drain: Duration,
}

impl Server {
    /// Binds the address. Connections wait until [`Server::run`]. Contradictory options are refused with
    /// `InvalidInput`.
    pub async fn bind(config: Config) -> io::Result<Server> {
        let refused = |message| io::Error::new(ErrorKind::InvalidInput, message);
        config.check().map_err(refused)?;
        let tls = config.tls.load().map_err(io::Error::other)?;
        let (listener, address) = config.listen().await?;
        let host = config.host_in_url();
        let mut origins = config.allow_origins;
        origins.extend(config.tool_servers.public_origin());
        let guard = Guard::new(
            address.port(),
            address.ip().is_loopback(),
            tls.is_some(),
            &host,
            &origins,
        );
        let (mut limits, mut http_limits) = (config.limits, config.http_limits);
        descriptors::fit(&mut limits, &mut http_limits);
        http_limits.fit();
        let mut mcp = config.mcp;
        mcp.fit(http_limits.connections, http_limits.connections_per_address);
        // Without the cancellation API only the runs API uses runs.
        if !config.cancellation.enabled {
            limits.retention.early = Duration::ZERO;
        }
        let bounds = Arc::new(SocketBounds::new(&limits));
        let hub = Arc::new(Hub::new(limits, config.tokens));
        let mut elsewhere = None;
        if let Some(url) = config.cluster.redis.clone() {
            let profile = WorkerProfile {
                process: hub.process,
                retention: hub.limits.retention.time,
                channel: config.cancellation.enabled,
            };
            // A stranger's run may have the same id, so where callers are told apart, a caller is named.
            let told_apart = !hub.tokens.is_empty();
            let mut options = config.cluster;
            options.require_requester.get_or_insert(told_apart);
            let joined = Cluster::new(&url, options, profile).map_err(io::Error::other)?;
            elsewhere = Some(Elsewhere::join(hub.clone(), joined));
        }
        let tool_servers = Runtime::new(config.tool_servers, hub.clone(), address, tls.is_some());
        let said = Some(config.content_security_policy).filter(|it| !it.is_empty());
        let policy = Policy::new(guard, hub.clone(), said, &config.frame_ancestors)?;

        let interfaces = Router::new()
            .merge(abp::routes(hub.clone(), elsewhere.clone()))
            .merge(jsonrpc::routes(hub.clone()))
            .merge(rap::server::routes(
                hub.clone(),
                config.rap,
                tls.is_some(),
                address.ip().is_loopback(),
            ))
            .merge(health::routes(hub.clone()))
            .merge(runs::api::routes(hub.clone()))
            .merge(apps::routes(hub.clone()));
        let mcp = mcp::routes(hub.clone(), mcp);
        let cancellation = contextforge::routes(hub.clone(), &config.cancellation);
        let interfaces: [(Router, Write); 3] = [
            (interfaces, Refusal::into_response),
            (mcp, |refusal| JsonRpc::from(refusal).into_response()),
            (cancellation, |refusal| FastApi(refusal).into_response()),
        ];
        let files = Router::new()
            .route(
                "/abp.json",
                pages::manifest(pages::Manifests {
                    hub: hub.clone(),
                    www: config.www.clone(),
                    public: config.public_manifest,
                }),
            )
            .merge(runs::page::routes())
            .nest_service("/caphost", pages::package(&config.package))
            .fallback_service(pages::page(&config.www));
        let layers = Arc::new(Layers {
            policy: Arc::new(policy),
            rate: RequestRate::new(&http_limits, hub.clone()),
            bodies: Arc::new(BodyBounds {
                ledgers: bounds.unfinished.clone(),
                max: hub.limits.message_bytes,
                time: http_limits.body_timeout,
            }),
            unsent: http_limits.unsent(),
            hub: hub.clone(),
        });
        let connections = Connections {
            tls,
            router: layers.around(interfaces, tool_servers.routes(), files),
            limits: http_limits,
            bounds,
            handshakes: Turns::of_processors(),
            lifecycle: hub.lifecycle.clone(),
        };
        Ok(Server {
            listener,
            connections,
            hub,
            elsewhere,
            tool_servers,
            drain: config.drain,
        })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
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
        self.hub.clone()
    }

    /// Serves until `stop`. Then the gateway takes no new calls, gives calls in flight the drain time to end,
    /// tells every peer, and gives each peer the close timeout to leave.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let Server { hub, drain, .. } = self;
        // Each in a task of its own, so that none waits for another, until this function returns.
        let mut apart = JoinSet::new();
        if let Some(elsewhere) = self.elsewhere.clone() {
            let tasks = hub.tasks.clone();
            apart.spawn(async move {
                let run = || {
                    let elsewhere = elsewhere.clone();
                    async move {
                        let cluster = elsewhere.cluster().clone();
                        tokio::join!(cluster.run(elsewhere.clone()), elsewhere.announce());
                        ControlFlow::Continue(())
                    }
                };
                tasks.keep_going("cluster", run).await;
            });
        }
        if let Some(cluster) = hub.cluster() {
            cluster.met(MEET).await;
        }
        // Not earlier: an app that is already connected elsewhere keeps its id.
        let _tool_servers = self.tool_servers.start()?;
        let tls = self.connections.tls.clone();
        let reload_interval = self.connections.limits.reload_interval;
        apart.spawn({
            let hub = hub.clone();
            async move {
                hub.tasks.keep_going("deadlines", || hub.keep_time()).await;
            }
        });
        // A task of its own, so that it goes on while the gateway drains.
        let mut serving = tokio::spawn(self.connections.serve(self.listener));
        let background = async {
            let keep_current = async || {
                match &tls {
                    Some(tls) => tls.keep_current(reload_interval).await,
                    None => return ControlFlow::Break(()),
                }
                ControlFlow::Continue(())
            };
            tokio::join!(
                hub.tasks.keep_going("metrics", || sum_up(&hub)),
                hub.tasks.keep_going("certificate", keep_current),
            );
        };
        let mut background = pin!(background);
        tokio::select! {
            () = stop => {}
            () = &mut background => {}
            ended = &mut serving => return ended.map_err(io::Error::other),
        }
        let served = async {
            let _ = (&mut serving).await;
        };
        tokio::select! {
            () = stopping::stop(&hub, self.elsewhere.as_deref(), drain, served) => {}
            () = background => {}
        }
        if let Some(cluster) = hub.cluster() {
            cluster.leave().await;
        }
        serving.abort();
        Ok(())
    }
}

/// Keeps the recorded metrics short, forever.
async fn sum_up(hub: &Hub) -> ControlFlow<()> {
    loop {
        sleep(SUM_UP).await;
        hub.metrics.sum_up();
    }
}
