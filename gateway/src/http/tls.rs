//! The TLS certificate: read from its files, and read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

use clap::Args;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The files of the certificate, if TLS is served.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Operation")]
pub struct TlsOptions {
    /// A PEM file with the certificate to serve TLS with, and its intermediate certificates. Needs --tls-key.
    #[arg(long, env = "CAPHOST_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key. Needs --tls-cert.
    #[arg(long, env = "CAPHOST_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
}

impl TlsOptions {
    /// Refuses one option without the other.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(_), None) => Err("--tls-cert needs --tls-key".into()),
            (None, Some(_)) => Err("--tls-key needs --tls-cert".into()),
            _ => Ok(()),
        }
    }

    /// The certificate, if one is given. The error names the file.
    pub(crate) fn load(&self) -> Result<Option<Tls>, String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Tls::load(certificate, key).map(Some),
            _ => Ok(None),
        }
    }
}

/// A certificate with its key, ready to serve TLS 1.2 and 1.3. Clones share it, even after a reload: new
/// handshakes use the new certificate, and open connections go on.
#[derive(Clone)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Arc<RwLock<Current>>,
}

/// The files as last read.
struct Current {
    /// The contents of both files, valid or not.
    seen: Contents,
    /// Made of the last valid contents.
    config: Arc<ServerConfig>,
}

/// The contents of the certificate's file and of the key's file.
type Contents = [Vec<u8>; 2];

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.certificate).finish()
    }
}

impl Tls {
    /// Reads both from PEM files: the chain with the server's own certificate first, and its
    /// private key (PKCS #8, PKCS #1 or SEC1). The error names the file.
    pub fn load(certificate: &Path, key: &Path) -> Result<Tls, String> {
        let seen = read(certificate, key)?;
        let config = parse(&seen, certificate, key)?;
        Ok(Tls {
            certificate: certificate.into(),
            key: key.into(),
            current: Arc::new(RwLock::new(Current { seen, config })),
        })
    }

    /// Reads the files again if they have changed. Returns whether they have: then new connections get the
    /// new certificate. Blocks. After an error, which names the file, the certificate stays as it was.
    fn reload(&self) -> Result<bool, String> {
        let seen = read(&self.certificate, &self.key)?;
        let mut current = self.current.write();
        if current.seen == seen {
            return Ok(false);
        }
        let config = parse(&seen, &self.certificate, &self.key);
        current.seen = seen;
        current.config = config?;
        Ok(true)
    }

    /// Reads the files again after each interval, forever, and logs the outcome.
    pub(crate) async fn keep_current(&self, every: Duration) {
        loop {
            sleep(every).await;
            self.reload_and_log().await;
        }
    }

    /// Reads the files again, and logs the outcome.
    pub(crate) async fn reload_and_log(&self) {
        let tls = self.clone();
        // Reading may take long, depending on where the files lie.
        let reload = spawn_blocking(move || {
            let file = tls.certificate.display();
            match tls.reload() {
                Ok(true) => tracing::info!(%file, "TLS certificate reloaded"),
                Ok(false) => tracing::debug!(%file, "TLS certificate unchanged"),
                Err(error) => {
                    tracing::error!(error, "TLS certificate not reloaded: the one before stays");
                }
            }
        });
        let _ = reload.await;
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        self.current.read().config.clone()
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Contents, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| said(path, &error));
    Ok([read(certificate)?, read(key)?])
}

fn parse(
    [chain, secret]: &Contents,
    certificate: &Path,
    key: &Path,
) -> Result<Arc<ServerConfig>, String> {
    let chain = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| said(certificate, &error))?;
    if chain.is_empty() {
        return Err(said(certificate, &"there is no certificate in it"));
    }
    let secret = PrivateKeyDer::from_pem_slice(secret).map_err(|error| said(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| said(key, &format!("does not go with the certificate: {error}")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn said(path: &Path, error: &dyn fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        tls: TlsOptions,
    }

    #[test]
    fn a_certificate_goes_with_a_key() {
        for (arguments, right) in [
            (&["serve"][..], true),
            (&["serve", "--tls-cert", "c"], false),
            (&["serve", "--tls-key", "k"], false),
            (&["serve", "--tls-key", "k", "--tls-cert", "c"], true),
        ] {
            let tls = Line::parse_from(arguments).tls;
            assert_eq!(tls.check().is_ok(), right, "{arguments:?}");
        }
    }
}
