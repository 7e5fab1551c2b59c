//! TLS: the certificate, and how connections come to it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

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
