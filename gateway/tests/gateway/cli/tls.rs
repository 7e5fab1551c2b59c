//! A gateway with HTTPS.

use caphost_gateway::{Config, TlsOptions};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn https_and_wss_need_a_certificate_that_is_trusted() {
    let names = ["localhost".to_string()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let folder = Folder::new();
    let (certificate, key) = (folder.path("cert.pem"), folder.path("key.pem"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let gateway = Gateway::with(Config {
        tls: TlsOptions {
            tls_cert: Some(certificate.into()),
            tls_key: Some(key.into()),
        },
        ..config()
    })
    .await;
    let url = format!("https://localhost:{}", gateway.address.port());
    // There is no app. An answer that says so shows that the command has reached the gateway.
    for (arguments, trusted, said) in [
        (&["call", "a.b"][..], true, "(DISCONNECTED)"),
        (&["cancel", "x"], true, "run not found"),
        (&["call", "a.b"], false, "certificate"),
        (&["cancel", "x"], false, "certificate"),
    ] {
        let mut command = at(&url, arguments);
        let file = if trusted { "cert.pem" } else { "none.pem" };
        command.env("SSL_CERT_FILE", folder.path(file));
        let ended = finished(command).await;
        assert_eq!((ended.status, &*ended.out), (Some(1), ""));
        let err = ended.err.to_lowercase();
        assert!(
            err.contains(&said.to_lowercase()),
            "{arguments:?}: {ended:?}"
        );
    }
}
