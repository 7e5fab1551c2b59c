//! Serving HTTP/1.1 on connections, until the gateway stops.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::mpsc;
use tower_service::Service;

use crate::fronts::socket::PeerAddress;
use crate::fronts::socket::pulse::{Pulse, Watched};
use crate::gateway::lifecycle::{Lifecycle, Phase};
use crate::http::listener::Listening;

type Stream = <Listening as Listener>::Io;

/// Accepts connections until the gateway stops, and waits until those accepted have ended. One
/// whose next request does not come within `idle` is closed.
pub(crate) async fn serve(
    mut listening: Listening,
    router: Router,
    idle: Duration,
    lifecycle: Arc<Lifecycle>,
) {
    let stopping = || lifecycle.reached(Phase::Stopping);
    let (alive, mut ended) = mpsc::channel::<()>(1);
    let mut stop = pin!(stopping());
    loop {
        let (stream, address) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listening.accept() => accepted,
        };
        let (router, stop, alive) = (router.clone(), stopping(), alive.clone());
        tokio::spawn(async move {
            converse(stream, address, router, idle, stop).await;
            drop(alive);
        });
    }
    // What is not accepted by now is refused.
    drop(listening);
    drop(alive);
    let _ = ended.recv().await;
}

async fn converse(
    stream: Stream,
    address: SocketAddr,
    router: Router,
    idle: Duration,
    stop: impl Future<Output = ()>,
) {
    let pulse = Pulse::default();
    let stream = Watched::new(stream, pulse.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        let peer = ConnectInfo(PeerAddress(address));
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(pulse.clone());
        router.clone().call(request)
    });
    let connection = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%address, %error, "connection ended");
    }
}
