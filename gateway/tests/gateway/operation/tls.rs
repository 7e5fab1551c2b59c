use std::sync::Arc;
use std::time::Duration;

use caphost_gateway::{Config, HttpLimits, TlsOptions};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring};
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

/// A certificate for localhost and 127.0.0.1, its files, and a client that trusts it.
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

    /// Replaces the certificate and key with those of `other`.
    fn replace_with(&self, other: &Authority) {
        for (from, to) in [
            (&other.certificate, &self.certificate),
            (&other.key, &self.key),
        ] {
            std::fs::copy(from, to).unwrap();
        }
    }

    fn tls(&self) -> TlsOptions {
        TlsOptions {
            tls_cert: Some(self.certificate.clone().into()),
            tls_key: Some(self.key.clone().into()),
        }
    }

    async fn connect(&self, port: u16) -> TlsStream<TcpStream> {
        self.try_connect(port).await.unwrap()
    }

    /// Connects. Fails unless the gateway shows this certificate.
    async fn try_connect(&self, port: u16) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let connecting = TlsConnector::from(self.client()).connect(localhost(), stream);
        soon("the handshake", connecting).await
    }

    fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.trusted.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    }

    /// The first bytes of a client.
    fn hello(&self) -> Vec<u8> {
        let mut client = ClientConnection::new(self.client(), localhost()).unwrap();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        hello
    }

    /// Waits until the gateway shows this certificate.
    async fn is_shown(&self, port: u16) {
        let shown = async {
            while self.try_connect(port).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon("the certificate", shown).await;
    }

    /// The answer to `GET path`.
    async fn get(&self, port: u16, path: &str) -> String {
        get(self.connect(port).await, port, path).await
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

fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

async fn get(mut stream: TlsStream<TcpStream>, port: u16, path: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("an answer", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    answer
}

async fn gateway(authority: &Authority, handshake_timeout: Duration) -> Gateway {
    Gateway::with(Config {
        tls: authority.tls(),
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
async fn handshakes_that_are_begun_and_left_hold_nobody_up() {
    let authority = Authority::new();
    let gateway = gateway(&authority, Duration::from_secs(60)).await;
    let port = gateway.address.port();
    let hello = authority.hello();
    let mut left = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        stream.write_all(&hello).await.unwrap();
        left.push(stream);
    }
    let answer = authority.get(port, "/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Each connection was answered and waits.
    for stream in &mut left {
        soon("the answer", stream.read_u8()).await.unwrap();
    }
    drop(left);
    let answer = authority.get(port, "/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
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
async fn a_new_certificate_is_served_without_a_restart_and_a_wrong_one_is_not() {
    let [old, new, newest] = [Authority::new(), Authority::new(), Authority::new()];
    let gateway = Gateway::with(Config {
        tls: old.tls(),
        http_limits: HttpLimits {
            reload_interval: Duration::from_millis(50),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let port = gateway.address.port();
    let open = old.connect(port).await;
    old.replace_with(&new);
    new.is_shown(port).await;
    assert!(old.try_connect(port).await.is_err());
    let answer = get(open, port, "/healthz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The gateway accepts neither half of a new pair nor an invalid certificate.
    std::fs::copy(&newest.key, &old.key).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    new.connect(port).await;
    std::fs::write(&old.certificate, "no certificate").unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    new.connect(port).await;
    old.replace_with(&newest);
    newest.is_shown(port).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sighup_has_the_certificate_read_again() {
    let [old, new] = [Authority::new(), Authority::new()];
    let arguments = format!(
        "serve --port 0 --tls-cert {} --tls-key {}",
        old.certificate, old.key
    );
    let arguments: Vec<_> = arguments.split(' ').collect();
    let (mut child, ready) = serve(caphost(&arguments)).await;
    let port = ready.trim_end_matches('/').rsplit_once(':').unwrap().1;
    let port = port.parse().unwrap();
    old.connect(port).await;
    old.replace_with(&new);
    old.connect(port).await;
    signal(&child, "-HUP");
    new.is_shown(port).await;
    child.kill().await.unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_cannot_be_read_to_the_end_do_not_keep_it_from_stopping() {
    let authority = Authority::new();
    let (certificate, key) = (&authority.certificate, &authority.key);
    let arguments = format!("serve --port 0 --tls-cert {certificate} --tls-key {key}");
    let arguments: Vec<_> = arguments.split(' ').collect();
    let (mut child, ready) = serve(caphost(&arguments)).await;
    let port = ready.trim_end_matches('/').rsplit_once(':').unwrap().1;
    // Opening a pipe without a writer blocks, like a file system that does not answer.
    std::fs::remove_file(certificate).unwrap();
    let mut pipe = std::process::Command::new("mkfifo");
    assert!(pipe.arg(certificate).status().unwrap().success());
    signal(&child, "-HUP");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let answer = authority.get(port.parse().unwrap(), "/healthz").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    signal(&child, "-TERM");
    let status = soon("the end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[cfg(unix)]
fn signal(child: &tokio::process::Child, name: &str) {
    let pid = child.id().unwrap().to_string();
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args([name, &pid]).status().unwrap().success());
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
