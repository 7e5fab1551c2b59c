//! Where requests may go whose URL a stranger has chosen: callback URLs, and endpoints that a tool
//! server names.
//!
//! Such a URL must not lead to what only this machine or its network can reach: a cloud's metadata, a
//! database, this gateway itself. What counts is the address a name stands for when the connection is
//! made, not before: whoever owns the name can change it in between (DNS rebinding). Redirects are not
//! followed, so nothing else has to be looked at.

mod addresses;
mod allowed_host;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use url::Url;

use crate::http_client;
use addresses::{is_internal, literal};
pub use allowed_host::AllowedHost;

/// Which of the URLs that strangers choose may be called.
#[derive(Clone, Debug)]
pub(super) struct Egress {
    named: Vec<AllowedHost>,
    others: Others,
}

/// What may be reached that is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing.
    Nothing,
    /// Public addresses.
    Public,
    /// Public addresses, and this machine.
    PublicAndLoopback,
}

impl Egress {
    /// Allows what is `named`; if nothing is, `others`.
    pub fn new(named: Vec<AllowedHost>, others: Others) -> Self {
        let others = match named.is_empty() {
            true => others,
            false => Others::Nothing,
        };
        Egress { named, others }
    }

    /// Allows the host of `url`, and public addresses.
    pub fn besides(url: &Url) -> Self {
        Egress {
            named: vec![AllowedHost::of(url)],
            others: Others::Public,
        }
    }

    /// Whether `url` may be called, as far as that is known before its name is resolved.
    pub fn admits(&self, url: &Url) -> bool {
        let is_named = self.names(url);
        match literal(url) {
            Some(address) => is_named || self.takes(address),
            // The addresses of the name will tell.
            None => {
                let by_address = self.others != Others::Nothing;
                is_named || by_address || self.named.iter().any(AllowedHost::is_network)
            }
        }
    }

    /// Whether `url` is named, with its port and its scheme: its addresses do not matter then.
    fn names(&self, url: &Url) -> bool {
        self.named.iter().any(|it| it.covers(url))
    }

    /// Whether a connection may be made to `address`. It is that of a host that is not named.
    fn reaches(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.takes(address) || self.named.iter().any(|it| it.has(address))
    }

    fn takes(&self, address: IpAddr) -> bool {
        match self.others {
            Others::Nothing => false,
            Others::Public => !is_internal(address),
            Others::PublicAndLoopback => {
                !is_internal(address) || address.to_canonical().is_loopback()
            }
        }
    }
}

/// Clients for URLs that have been admitted. There are two: whoever resolves a name does not know the port
/// and the scheme.
#[derive(Debug)]
pub(super) struct Clients {
    pub egress: Arc<Egress>,
    named: Client,
    /// For URLs that are not named: their addresses decide.
    others: Client,
}

impl Clients {
    /// With a timeout for a whole request.
    pub fn new(egress: Egress, timeout: Duration) -> Self {
        let egress = Arc::new(egress);
        let others = http_client::with(|builder| {
            let resolver = Arc::new(Resolver(egress.clone()));
            builder.timeout(timeout).dns_resolver(resolver)
        });
        Clients {
            named: http_client::client(timeout),
            others,
            egress,
        }
    }

    /// The client for that URL.
    pub fn to(&self, url: &Url) -> &Client {
        match self.egress.names(url) {
            true => &self.named,
            false => &self.others,
        }
    }
}

/// Resolves names to the addresses that may be connected to.
struct Resolver(Arc<Egress>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let egress = self.0.clone();
        Box::pin(async move {
            // The port is that of the URL.
            let found = lookup_host((name.as_str(), 0)).await?;
            let reached = found.filter(|it| egress.reaches(it.ip()));
            let reached: Vec<SocketAddr> = reached.collect();
            if reached.is_empty() {
                return Err(Forbidden.into());
            }
            Ok(Box::new(reached.into_iter()) as Addrs)
        })
    }
}

/// A name stands for no address that may be connected to.
#[derive(Debug)]
struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its name stands for an internal address")
    }
}

impl Error for Forbidden {}

/// Whether a request was not sent because of where its URL leads.
pub(super) fn is_forbidden(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(found) = cause {
        if found.is::<Forbidden>() {
            return true;
        }
        cause = found.source();
    }
    false
}
