//! Where connections come from: a TCP socket, with TLS or without.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use tls_listener::{Error, TlsListener, builder};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use crate::http::Tls;

/// What to wait when no connection can be accepted, as when the process has too many files open.
const ACCEPT_RETRY: Duration = Duration::from_secs(1);

/// Bytes the system takes beyond those under way to the peer. It would take megabytes, and whether a
/// peer still reads would show only once in as many.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT: u32 = 128 << 10;

/// A socket that listens.
pub(crate) enum Listening {
    /// Connections as they come.
    Plain(TcpListener),
    /// Connections whose handshake is done. Handshakes go on beside each other.
    Tls(Box<TlsListener<TcpListener, TlsAcceptor>>),
}

impl Listening {
    /// Listens for TLS if it is given, and ends a handshake that takes longer than `patience`.
    pub(crate) fn new(socket: TcpListener, tls: Option<&Tls>, patience: Duration) -> Self {
        match tls {
            None => Listening::Plain(socket),
            Some(tls) => {
                let mut builder = builder(tls.acceptor());
                let listener = builder.handshake_timeout(patience).listen(socket);
                Listening::Tls(Box::new(listener))
            }
        }
    }
}

impl Listener for Listening {
    type Io = Either<TcpStream, TlsStream<TcpStream>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let listener = match self {
            Listening::Plain(listener) => {
                let (stream, address) = Listener::accept(listener).await;
                at_once(&stream);
                return (Either::Left(stream), address);
            }
            Listening::Tls(listener) => listener,
        };
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    at_once(stream.get_ref().0);
                    return (Either::Right(stream), address);
                }
                Err(Error::TlsAcceptError {
                    error, peer_addr, ..
                }) => tracing::debug!(%peer_addr, %error, "no TLS handshake"),
                Err(Error::HandshakeTimeout { peer_addr, .. }) => {
                    tracing::debug!(%peer_addr, "TLS handshake timed out");
                }
                Err(Error::ListenerError(error)) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Listening::Plain(listener) => listener.local_addr(),
            Listening::Tls(listener) => listener.listener().local_addr(),
        }
    }
}

/// Messages are small and awaited: Nagle's algorithm only delays them.
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
