//! Connections: accepted, with TLS or without, and served HTTP/1.1 until the gateway stops.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;
use tower_service::Service;

use crate::bounds::{QuotaKey, Turns};
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::bounds::SocketBounds;
use crate::fronts::socket::stream::{Watch, Watched};
use crate::fronts::socket::{Connection, PeerAddress};
use crate::gateway::lifecycle::{Lifecycle, Phase};
use crate::http::places::{Place, Places, while_answered};
use crate::http::{HttpLimits, Tls, health};
use crate::seldom::Seldom;

/// How long to wait when no connection can be accepted, for example because the process has too many open
/// files.
const ACCEPT_RETRY: Duration = Duration::from_millis(200);

/// The size of a connection's buffers in bytes, and so the largest head of a request. Bodies and answers pass
/// through these buffers.
pub(crate) const BUFFERED: usize = 32 << 10;

/// Bytes that the system may hold beyond those on the way to the peer. By default it would hold megabytes,
/// and the gateway would learn only once in as many whether the peer still reads.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT: u32 = 128 << 10;

/// What every connection needs.
#[derive(Clone)]
pub(crate) struct Connections {
    pub tls: Option<Tls>,
    pub router: Router,
    pub limits: HttpLimits,
    pub bounds: Arc<SocketBounds>,
    /// At the handshakes of TLS.
    pub handshakes: Arc<Turns>,
    pub lifecycle: Arc<Lifecycle>,
}

impl Connections {
    /// Accepts connections until the gateway stops.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let limits = &self.limits;
        let places = Places::new(limits.connections, limits.connections_per_address);
        let (failing, full) = (Seldom::new(), Seldom::new());
        let mut stop = pin!(self.lifecycle.reached(Phase::Stopping));
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, address)) => {
                    let address = PeerAddress(address);
                    let Some(place) = places.enter(address.network()) else {
                        if full.is_due() {
                            let address = address.0;
                            tracing::warn!(%address, "too many connections: refused");
                        }
                        continue;
                    };
                    let is_spare = place.is_spare();
                    let (all, connected) = (self.clone(), self.lifecycle.connected());
                    tokio::spawn(async move {
                        all.welcome(stream, address, place).await;
                        drop(connected);
                    });
                    if is_spare {
                        // A request that has come is answered before more connections take its place.
                        yield_now().await;
                    }
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    if failing.is_due() {
                        tracing::error!(%error, "cannot accept connections");
                    }
                    // An idle connection frees its descriptor.
                    places.let_one_go();
                    sleep(ACCEPT_RETRY).await;
                }
            }
        }
        // Connections that are not accepted by now are refused.
        drop(listener);
    }

    async fn welcome(self, stream: TcpStream, address: PeerAddress, place: Place) {
        at_once(&stream);
        let place = Arc::new(place);
        let serving = async {
            let Some(config) = self.tls.as_ref().map(Tls::config) else {
                return self.converse(stream, address, place.clone()).await;
            };
            match self.shake_hands(config, stream, address).await {
                Some(Ok(stream)) => self.converse(stream, address, place.clone()).await,
                Some(Err(error)) => {
                    tracing::debug!(address = %address.0, %error, "no TLS handshake");
                }
                None => tracing::debug!(address = %address.0, "TLS handshake timed out"),
            }
        };
        tokio::select! {
            () = serving => {}
            () = place.let_go() => {
                tracing::debug!(address = %address.0, "too many connections: let go");
            }
            () = place.expires() => {
                tracing::debug!(address = %address.0, "too many connections: its time is up");
            }
        }
    }

    /// `None` if the handshake takes too long, or the gateway stops meanwhile.
    async fn shake_hands(
        &self,
        config: Arc<ServerConfig>,
        stream: TcpStream,
        address: PeerAddress,
    ) -> Option<io::Result<TlsStream<TcpStream>>> {
        let handshake = async {
            let hello = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
            // The gateway's part needs a private key to sign, and waits for its turn. The client's part does
            // not hold a turn: it may never come.
            let turn = self
                .handshakes
                .take(&QuotaKey::Stranger(address.network()))
                .await;
            let mut shaking = pin!(hello.into_stream(config));
            let begun = poll_fn(|context| Poll::Ready(shaking.as_mut().poll(context))).await;
            drop(turn);
            match begun {
                Poll::Ready(shaken) => shaken,
                Poll::Pending => shaking.await,
            }
        };
        let handshake = timeout(self.limits.handshake_timeout, handshake);
        tokio::select! {
            shaken = handshake => shaken.ok(),
            () = self.lifecycle.reached(Phase::Stopping) => None,
        }
    }

    async fn converse<S>(&self, stream: S, address: PeerAddress, place: Arc<Place>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limits = &self.limits;
        let stranger = QuotaKey::Stranger(address.network());
        let watch = Watch::new(self.bounds.unfinished.clone(), stranger);
        place.watch_with(watch.clone());
        let stream = Watched::new(stream, watch.clone(), limits.write_timeout);
        let known = Connection {
            address,
            let_go: place.told(),
            watch,
            bounds: self.bounds.clone(),
        };
        let (router, at) = (self.router.clone(), place.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(known.clone());
            let spare = at.is_spare();
            let is_served = !spare || health::is_asked_for(request.uri().path());
            let answer = is_served.then(|| router.clone().call(request));
            while_answered(&at, async move {
                let mut response = match answer {
                    Some(answer) => answer.await?,
                    None => Refusal::busy("Too many connections are busy").into_response(),
                };
                if spare {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
                Ok::<_, Infallible>(response)
            })
        });
        let connection = Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_timeout)
            .max_buf_size(BUFFERED)
            .max_header_size(BUFFERED)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut connection = pin!(connection);
        let first = async {
            sleep(limits.head_timeout).await;
            if place.was_asked() {
                std::future::pending::<()>().await;
            }
        };
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = first => return,
            () = self.lifecycle.reached(Phase::Stopping) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(address = %address.0, %error, "connection ended");
        }
    }
}

/// Turns off Nagle's algorithm, which only delays small messages that somebody waits for.
fn at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    #[cfg(any(target_os = "android", target_os = "linux"))]
    if let Err(error) = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT) {
        tracing::debug!(%error, "TCP_NOTSENT_LOWAT");
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionAborted | ConnectionReset
    )
}
