use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use caphost_gateway::http::HttpLimits;
use caphost_gateway::http::Tls;
use caphost_gateway::server::Config;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::Directory;
use crate::binary::{caphost, output, serve};
use crate::support::*;

/// A certificate of localhost and 127.0.0.1, its files, and a client that trusts it.
struct Authority {
    directory: Directory,
    certificate: String,
    key: String,
    trusted: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let names = ["localhost".to_string(), "127.0.0.1".to_string()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let directory = Directory::new();
        Authority {
            certificate: directory.write("cert.pem", &cert.pem()),
            key: directory.write("key.pem", &signing_key.serialize_pem()),
            trusted: cert.der().clone(),
            directory,
        }
    }

    fn tls(&self) -> Tls {
        Tls::load(Path::new(&self.certificate), Path::new(&self.key)).unwrap()
    }

    async fn connect(&self, port: u16) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.trusted.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
        soon("the handshake", connecting).await.unwrap()
    }

    /// The answer to `GET path`.
    async fn get(&self, port: u16, path: &str) -> String {
        let mut stream = self.connect(port).await;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("an answer", stream.read_to_string(&mut answer))
            .await
            .unwrap();
        answer
    }

    /// The status of an agent's upgrade from a page of `origin`.
    async fn upgrade(&self, port: u16, origin: &str) -> u16 {
        let url = format!("wss://localhost:{port}/abp");
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", origin.parse().unwrap());
        match client_async(request, self.connect(port).await).await {
            Ok((_, response)) => response.status().as_u16(),
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(error) => panic!("{error}"),
        }
    }
}

async fn gateway(authority: &Authority, handshake_timeout: Duration) -> Gateway {
    Gateway::with(Config {
        tls: Some(authority.tls()),
        http_limits: HttpLimits {
            handshake_timeout,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_binary_serves_https_and_says_so() {
    let authority = Authority::new();
    let (certificate, key) = (&authority.certificate, &authority.key);
    let arguments = [
        "serve",
        "--port",
        "0",
        "--tls-cert",
        certificate,
        "--tls-key",
        key,
    ];
    let (mut child, ready) = serve(caphost(&arguments)).await;
    let port = ready
        .strip_prefix("caphost: serving https://127.0.0.1:")
        .and_then(|rest| rest.strip_suffix('/'))
        .unwrap_or_else(|| panic!("{ready}"));
    let answer = authority.get(port.parse().unwrap(), "/healthz").await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"),
        "{answer}"
    );
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_own_origins_are_https() {
    let authority = Authority::new();
    let gateway = gateway(&authority, Duration::from_secs(10)).await;
    let port = gateway.address.port();
    for (origin, status) in [
        (format!("https://localhost:{port}"), 101),
        (format!("https://127.0.0.1:{port}"), 101),
        (format!("http://localhost:{port}"), 403),
        ("https://evil.example".into(), 403),
    ] {
        assert_eq!(authority.upgrade(port, &origin).await, status, "{origin}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_shake_hands_holds_nobody_up_and_is_let_go() {
    let authority = Authority::new();
    let gateway = gateway(&authority, Duration::from_millis(500)).await;
    let port = gateway.address.port();
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(gateway.address).await.unwrap());
    }
    let mut plain = TcpStream::connect(gateway.address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let answer = authority.get(port, "/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = soon("the end of it", stream.read_to_end(&mut rest)).await;
        assert!(rest.is_empty());
    }
    let answer = authority.get(port, "/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_do_not_do_are_named() {
    let authority = Authority::new();
    let other = Authority::new();
    let empty = authority.directory.write("empty.pem", "");
    let missing = "/nonexistent/caphost.pem".to_string();
    let (certificate, key) = (&authority.certificate, &authority.key);
    for (certificate, key, named) in [
        (certificate, &other.key, &other.key),
        (certificate, &empty, &empty),
        (certificate, certificate, certificate),
        (&empty, key, &empty),
        (&missing, key, &missing),
    ] {
        let arguments = [
            "serve",
            "--port",
            "0",
            "--tls-cert",
            certificate,
            "--tls-key",
            key,
        ];
        let output = output(&arguments).await;
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with(&format!("caphost: {named}: ")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
