//! Whose share is taken.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use crate::tokens::{Identity, Role, Tokens};

/// Names a share: all that is taken under one key counts together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum QuotaKey {
    /// Peers of a network that have shown no token, or have not registered yet.
    Stranger(IpAddr),
    /// The apps of a network, where there are no tokens.
    AppsOfNetwork(IpAddr),
    /// Everything else of a network, where there are no tokens.
    Network(IpAddr),
    /// The apps of a token, by the token's name.
    AppsOfToken(Arc<str>),
    /// Everything else of a token, by the token's name.
    Token(Arc<str>),
}

impl QuotaKey {
    /// The key of the requests of `owner` from that address.
    pub fn of(tokens: &Tokens, owner: &Identity, address: IpAddr) -> Self {
        if tokens.is_empty() {
            return QuotaKey::Network(network(address));
        }
        QuotaKey::Token(owner.name.clone())
    }

    /// The key of the same owner in that role: apps have a share of their own.
    pub fn in_role(self, role: Role) -> Self {
        match (role, self) {
            (Role::App, QuotaKey::Network(network)) => QuotaKey::AppsOfNetwork(network),
            (Role::App, QuotaKey::Token(name)) => QuotaKey::AppsOfToken(name),
            (_, key) => key,
        }
    }

    /// The name of the token or network.
    pub fn name(&self) -> Arc<str> {
        match self {
            QuotaKey::Token(name) | QuotaKey::AppsOfToken(name) => name.clone(),
            QuotaKey::Network(network)
            | QuotaKey::AppsOfNetwork(network)
            | QuotaKey::Stranger(network) => network.to_string().into(),
        }
    }

    /// Whether the peers have shown no token yet.
    pub fn is_stranger(&self) -> bool {
        matches!(self, QuotaKey::Stranger(_))
    }
}

/// The network that one party owns: an IPv4 address, or the /64 network of an IPv6 address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let prefix = v6.to_bits() & !u128::from(u64::MAX);
            Ipv6Addr::from_bits(prefix).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8::1:2:3:4"), "2001:db8::");
        assert_eq!(network("2001:db8:0:1::9"), "2001:db8:0:1::");
        assert_eq!(network("10.1.2.3"), "10.1.2.3");
        assert_eq!(network("::ffff:10.1.2.3"), "10.1.2.3");
    }

    #[test]
    fn the_apps_of_an_owner_have_a_share_of_their_own() {
        let address = IpAddr::from([10, 0, 0, 1]);
        for owner in [QuotaKey::Token("a".into()), QuotaKey::Network(address)] {
            let apps = owner.clone().in_role(Role::App);
            assert_ne!(apps, owner);
            assert_eq!(apps.name(), owner.name());
            assert_eq!(owner.clone().in_role(Role::Agent), owner);
        }
        let stranger = QuotaKey::Stranger(address);
        assert_eq!(stranger.clone().in_role(Role::App), stranger);
    }
}
