//! HTTP requests to peers.

use std::error::Error;
use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder};

/// A client that follows no redirects and uses no proxy of the environment.
pub fn client() -> Client {
    static CRYPTO: Once = Once::new();
    CRYPTO.call_once(|| {
        // Somebody else may have chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let builder = || {
        Client::builder()
            .user_agent(concat!("caphost-conformance/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
    };
    // Without certificates, as in some containers, plain HTTP still works.
    let made = builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build());
    made.unwrap_or_else(|error| unreachable!("neither roots nor files are needed: {error}"))
}

/// `request` with a bearer token, if there is one.
pub fn with_token(request: RequestBuilder, token: Option<&str>) -> RequestBuilder {
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

/// The words of the innermost error of a chain. It says what happened.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
