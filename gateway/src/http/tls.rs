//! TLS: the certificate, and how connections come to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Where the certificate is, if TLS is to be served.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Operation")]
pub struct TlsOptions {
    /// A PEM file with the certificate to serve TLS with, and those between it and its authority. Goes with --tls-key.
    #[arg(long, env = "CAPHOST_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key.
    #[arg(long, env = "CAPHOST_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
}

impl TlsOptions {
    /// What cannot be right together.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(_), None) => Err("--tls-cert needs --tls-key".into()),
            (None, Some(_)) => Err("--tls-key needs --tls-cert".into()),
            _ => Ok(()),
        }
    }

    /// The certificate, if one is given. The error names the file.
    pub fn load(&self) -> Result<Option<Tls>, String> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Tls::load(certificate, key).map(Some),
            _ => Ok(None),
        }
    }
}

/// A certificate with its key, ready to serve TLS 1.2 and 1.3.
#[derive(Clone)]
pub struct Tls(Arc<ServerConfig>);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads both from PEM files: the chain with the server's own certificate first, and its
    /// private key (PKCS #8, PKCS #1 or SEC1). The error names the file.
    pub fn load(certificate: &Path, key: &Path) -> Result<Tls, String> {
        let said = |path: &Path, error: &dyn fmt::Display| format!("{}: {error}", path.display());
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| said(certificate, &error))?;
        if chain.is_empty() {
            return Err(said(certificate, &"there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| said(key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| said(key, &format!("does not go with the certificate: {error}")))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(Arc::new(config)))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.0.clone().into()
    }
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
