//! A gateway without a listener: its routes and its background tasks.

use std::future::{Future, ready};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::DropGuard;

use super::config::Config;
use super::error::Error;
use super::layers::Layers;
use super::stopping;
use crate::bounds::QuotaKey;
use crate::cluster::{Cluster, WorkerProfile};
use crate::fronts::body::BodyBounds;
use crate::fronts::rap::runtime::Runtime;
use crate::fronts::refusal::{FastApi, JsonRpc, Refusal, Write};
use crate::fronts::socket::bounds::SocketBounds;
use crate::fronts::socket::stream::Watch;
use crate::fronts::socket::{Connection, PeerAddress};
use crate::fronts::{abp, apps, contextforge, files, jsonrpc, mcp, rap, runs};
use crate::gateway::{Hub, RemoteWorkers};
use crate::http::guard::Guard;
use crate::http::headers::Policy;
use crate::http::rate::RequestRate;
use crate::http::{health, pages};

/// How long to wait for a cluster's other workers to introduce themselves before serving.
const MEET: Duration = Duration::from_secs(1);
/// How often the metrics are summed up.
const SUM_UP: Duration = Duration::from_secs(5);

/// A gateway whose routes another program serves, beside its own.
///
/// ```no_run
/// use std::net::SocketAddr;
///
/// use axum::{Router, routing::get};
/// use caphost_gateway::{Config, Gateway};
/// use tokio::net::TcpListener;
///
/// # async fn serve(stopped: tokio::sync::watch::Receiver<bool>) -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("127.0.0.1:8080").await?;
/// let gateway = Gateway::new(Config::default(), listener.local_addr()?)?;
/// let routes = Router::new()
///     .route("/hello", get(async || "Hello"))
///     .merge(gateway.router())
///     .into_make_service_with_connect_info::<SocketAddr>();
///
/// let stop = || {
///     let mut stopped = stopped.clone();
///     async move { drop(stopped.wait_for(|stopped| *stopped).await) }
/// };
/// let serving = axum::serve(listener, routes).with_graceful_shutdown(stop());
/// let (served, ended) = tokio::join!(serving, gateway.run(stop()));
/// served?;
/// ended?;
/// # Ok(())
/// # }
/// ```
///
/// The program bounds its connections itself, and serves TLS itself if it is to. `port`, `host`, `tls`, `www`,
/// `package` and the bounds of connections in [`Config`] have no effect.
pub struct Gateway {
    hub: Arc<Hub>,
    /// The other workers, in a cluster.
    remote_workers: Option<Arc<RemoteWorkers>>,
    tool_servers: Runtime,
    drain: Duration,
    layers: Arc<Layers>,
    bounds: Arc<SocketBounds>,
    interfaces: [(Router, Write); 3],
    files: Router,
}

impl Gateway {
    /// A gateway for a program that listens on `address`, in a Tokio runtime. A request must name the gateway in
    /// its `Host` header by a loopback name or address, by `config.host`, or by a host of
    /// `config.allow_origins`. If other machines reach the address, tokens are needed, else the error is
    /// [`Error::Config`].
    pub fn new(mut config: Config, address: SocketAddr) -> Result<Self, Error> {
        config.check().map_err(Error::Config)?;
        let listening = format!("to listen on {address}");
        config.guarded(address, &listening).map_err(Error::Config)?;
        if config.tls.tls_cert.is_some() {
            let message = "the program that serves the routes serves TLS, not the gateway";
            return Err(Error::Config(message.into()));
        }
        config.http_limits.fit();
        Gateway::assemble(config, address, false)
    }

    /// A gateway of a checked configuration whose bounds fit, on an address with or without TLS.
    pub(super) fn assemble(config: Config, address: SocketAddr, tls: bool) -> Result<Self, Error> {
        let host = config.host_in_url();
        let mut origins = config.allow_origins;
        origins.extend(config.tool_servers.public_origin());
        let is_loopback = address.ip().is_loopback();
        let guard = Guard::new(address.port(), is_loopback, tls, &host, &origins);
        let (mut limits, http_limits) = (config.limits, config.http_limits);
        let mut rap = config.rap;
        rap.coerce = config.coerce;
        let mut mcp = config.mcp;
        mcp.fit(http_limits.connections, http_limits.connections_per_address);
        // Without the cancellation API only the runs API uses runs.
        if !config.cancellation.enabled {
            limits.retention.early = Duration::ZERO;
        }
        let bounds = Arc::new(SocketBounds::new(&limits));
        let hub = Arc::new(Hub::new(limits, config.tokens));
        hub.files.are_at(config.tool_servers.public.clone(), tls);
        let mut remote_workers = None;
        let told_apart = !hub.tokens.is_empty();
        if let Some(url) = config.cluster.redis.clone() {
            let profile = WorkerProfile {
                process: hub.process,
                retention: hub.limits.retention.time,
                channel: config.cancellation.enabled,
            };
            // A stranger's run may have the same id, so where callers are told apart, a caller is named.
            let mut options = config.cluster;
            options.require_requester.get_or_insert(told_apart);
            let joined = Cluster::new(&url, options, profile).map_err(Error::Unusable)?;
            remote_workers = Some(RemoteWorkers::join(hub.clone(), joined));
        }
        let tool_servers = Runtime::new(config.tool_servers, hub.clone(), address, tls);
        let said = Some(config.content_security_policy).filter(|it| !it.is_empty());
        let policy = Policy::new(guard, hub.clone(), said, &config.frame_ancestors)?;

        let interfaces = Router::new()
            .merge(abp::routes(hub.clone()))
            .merge(jsonrpc::routes(hub.clone()))
            .merge(rap::server::routes(hub.clone(), rap, tls, is_loopback))
            .merge(health::routes(hub.clone()))
            .merge(runs::api::routes(hub.clone()))
            .merge(apps::routes(hub.clone()))
            .merge(files::routes(hub.clone()));
        let mcp = mcp::routes(hub.clone(), mcp, config.coerce);
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
                    www: config.www,
                    public: config.public_manifest,
                }),
            )
            .merge(runs::page::routes());
        let layers = Arc::new(Layers {
            policy: Arc::new(policy),
            rate: RequestRate::new(&http_limits, told_apart),
            bodies: Arc::new(BodyBounds {
                ledgers: bounds.unfinished.clone(),
                max: hub.limits.message_bytes,
                time: http_limits.body_timeout,
            }),
            unsent: http_limits.unsent(),
            hub: hub.clone(),
        });
        Ok(Gateway {
            hub,
            remote_workers,
            tool_servers,
            drain: config.drain,
            layers,
            bounds,
            interfaces,
            files,
        })
    }

    /// The routes: those of all protocols, `/abp.json`, `/runs`, `/healthz`, `/readyz` and `/metrics`. They stand
    /// at the root, as clients expect, and have no fallback.
    ///
    /// Serve them with `into_make_service_with_connect_info::<SocketAddr>()`: the gateway shares its bounds out
    /// by the address of the other end. A request without this address is refused.
    pub fn router(&self) -> Router {
        let bounds = self.bounds.clone();
        self.routes(Router::new())
            .layer(from_fn_with_state(bounds, connected))
    }

    /// The state that all connections share, for the integration tests.
    #[doc(hidden)]
    pub fn hub(&self) -> Arc<Hub> {
        self.hub.clone()
    }

    /// The bounds that all WebSockets share.
    pub(super) fn bounds(&self) -> Arc<SocketBounds> {
        self.bounds.clone()
    }

    /// The routes, and further files, for connections that are one of the extensions of their requests.
    pub(super) fn routes(&self, files: Router) -> Router {
        let files = self.files.clone().merge(files);
        self.layers
            .around(self.interfaces.clone(), self.tool_servers.routes(), files)
    }

    /// Does the work in the background until `stop`: deadlines, other workers, tool servers, metrics. Without it
    /// no call times out. After `stop` the gateway takes no new calls, gives calls in flight the drain time to
    /// end, tells every peer, and gives each peer the close timeout to leave. The routes answer meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        self.start().await.until(stop, ready(())).await;
        Ok(())
    }

    /// Starts the work in the background.
    pub(super) async fn start(self) -> Running {
        let hub = self.hub;
        // Each in a task of its own, so that none waits for another.
        let mut apart = JoinSet::new();
        if let Some(remote_workers) = self.remote_workers.clone() {
            let tasks = hub.tasks.clone();
            apart.spawn(async move {
                let run = || {
                    let remote_workers = remote_workers.clone();
                    async move {
                        let cluster = remote_workers.cluster().clone();
                        tokio::join!(
                            cluster.run(remote_workers.clone()),
                            remote_workers.announce()
                        );
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
        let tool_servers = self.tool_servers.start();
        let timed = hub.clone();
        apart.spawn(async move {
            timed
                .tasks
                .keep_going("deadlines", || timed.keep_time())
                .await;
        });
        let measured = hub.clone();
        apart.spawn(async move {
            measured
                .tasks
                .keep_going("metrics", || sum_up(&measured))
                .await;
        });
        Running {
            hub,
            drain: self.drain,
            _apart: apart,
            _tool_servers: tool_servers,
        }
    }
}

/// The background work of a gateway. It ends when this value is dropped.
pub(super) struct Running {
    hub: Arc<Hub>,
    drain: Duration,
    _apart: JoinSet<()>,
    _tool_servers: Option<DropGuard>,
}

impl Running {
    /// Goes on until `stop`, and stops. `served` ends when no more connections are accepted.
    pub(super) async fn until(
        self,
        stop: impl Future<Output = ()>,
        served: impl Future<Output = ()>,
    ) {
        stop.await;
        stopping::stop(&self.hub, self.drain, served).await;
        if let Some(cluster) = self.hub.cluster() {
            cluster.leave().await;
        }
    }
}

/// Keeps the recorded metrics short, forever.
async fn sum_up(hub: &Hub) -> ControlFlow<()> {
    loop {
        sleep(SUM_UP).await;
        hub.metrics.sum_up();
    }
}

/// Says which connection a request came on, as far as a program that serves the routes knows.
async fn connected(
    State(bounds): State<Arc<SocketBounds>>,
    mut request: Request,
    next: Next,
) -> Response {
    let known = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let Some(ConnectInfo(address)) = known else {
        let message = "The address of the other end is not known: serve the routes of the gateway with \
                       into_make_service_with_connect_info::<SocketAddr>()";
        return Refusal::internal(message).into_response();
    };
    let address = PeerAddress(*address);
    let stranger = QuotaKey::Stranger(address.network());
    let watch = Watch::new(bounds.unfinished.clone(), stranger);
    request.extensions_mut().insert(Connection {
        address,
        let_go: Arc::default(),
        watch,
        bounds,
    });
    next.run(request).await
}
