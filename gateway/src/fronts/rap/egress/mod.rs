//! Restricts requests to URLs that a stranger has chosen: callback URLs, and endpoints that a tool server
//! names.
//!
//! Such a URL must not lead to targets that only this machine or its network can reach, for example a cloud's
//! metadata, a database, or this gateway itself. The address of the name counts at the time of the
//! connection, and not before: the owner of the name can change the address in between (DNS rebinding).
//! Redirects are not followed, so nothing else has to be checked.

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

/// The URLs of strangers that the gateway may call.
#[derive(Clone, Debug)]
pub(super) struct Egress {
    named: Vec<AllowedHost>,
    others: Others,
}

/// The targets that are allowed without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// No targets.
    Nothing,
    /// Public addresses.
    Public,
    /// Public addresses, and this machine.
    PublicAndLoopback,
}

impl Egress {
    /// Allows the `named` targets. If there are none, allows `others`.
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

    /// Whether `url` may be called, as far as this is known before its name is resolved.
    pub fn admits(&self, url: &Url) -> bool {
        let is_named = self.names(url);
        match literal(url) {
            Some(address) => is_named || self.takes(address),
            // The addresses of the name decide later.
            None => {
                let by_address = self.others != Others::Nothing;
                is_named || by_address || self.named.iter().any(AllowedHost::is_network)
            }
        }
    }

    /// Whether `url` is named, with its port and scheme. If it is, its addresses do not matter.
    fn names(&self, url: &Url) -> bool {
        self.named.iter().any(|it| it.covers(url))
    }

    /// Whether a connection to `address` is allowed. The address belongs to a host that is not named.
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

/// The HTTP clients for allowed URLs. There are two clients, because the resolver of names does not know the
/// port and the scheme.
#[derive(Debug)]
pub(super) struct Clients {
    pub egress: Arc<Egress>,
    named: Client,
    /// The client for URLs that are not named. Their addresses decide.
    others: Client,
}

impl Clients {
    /// Clients with a timeout for a whole request.
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

/// Resolves names to the addresses that are allowed.
struct Resolver(Arc<Egress>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let egress = self.0.clone();
        Box::pin(async move {
            // The URL provides the port.
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

/// No address of the name is allowed.
#[derive(Debug)]
struct Forbidden;

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its name stands for an internal address")
    }
}

impl Error for Forbidden {}

/// Whether a request was not sent because its target is not allowed.
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
