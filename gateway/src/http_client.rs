//! HTTP requests to other servers.

use std::error::Error;
use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};

/// How long opening a connection may take: 5 s. A slower host is down or does not exist.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an idle connection is kept for the next request: 4 s. Many servers close an idle connection after
/// 5 s, and a request that meets the close fails.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// A client that follows no redirects and uses no proxy of the environment. A request may take `timeout` from
/// its start to the end of its answer. The client sends no credentials.
///
/// A client is cheap to clone, and its clones share its connections. Make one client per purpose.
pub fn client(timeout: Duration) -> Client {
    with(|builder| builder.timeout(timeout))
}

/// A client like [`client`]'s, but configured by `configure` and without a timeout.
pub fn with(configure: impl Fn(ClientBuilder) -> ClientBuilder) -> Client {
    let configured = || configure(builder());
    let with_roots = configured().build().or_else(|error| {
        // This usually is a container without certificates. Plain HTTP works without them.
        tracing::warn!(%error, "no root certificates: https servers cannot be reached");
        configured().tls_certs_only([]).build()
    });
    with_roots.unwrap_or_else(|error| unreachable!("neither roots nor files are needed: {error}"))
}

fn builder() -> ClientBuilder {
    install_crypto();
    Client::builder()
        .user_agent(concat!("caphost/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
}

/// The body of an answer. `None` if the body has more than `max` bytes.
pub async fn whole_body(mut response: Response, max: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > max {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// The innermost error of a chain. It says what happened, and the outer errors say where.
pub fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a dyn Error {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost
}

/// Installs ring as the cryptography for TLS in this process, unless another one is installed.
pub fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_be_made_more_than_once() {
        let _ = client(Duration::from_secs(1));
        let _ = client(Duration::from_secs(2));
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
