//! Bounds in which each holder has a share.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::gateway::Hub;
use crate::places::{Bound, Full, Places};
use crate::tokens::Identity;

/// Holders: what one holder takes counts towards its share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A token, by its name.
    Token(Arc<str>),
    /// A network, where there are no tokens.
    Network(IpAddr),
}

impl Holder {
    /// The holder of what `owner` asks for from that address.
    pub(crate) fn of(hub: &Hub, owner: &Identity, address: IpAddr) -> Self {
        match hub.tokens.is_empty() {
            true => Holder::Network(network(address)),
            false => Holder::Token(owner.name.clone()),
        }
    }

    /// The name of the holder, different for each.
    pub(crate) fn name(&self) -> Arc<str> {
        match self {
            Holder::Token(name) => name.clone(),
            Holder::Network(address) => address.to_string().into(),
        }
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

/// A bound, and the share that each holder has taken.
#[derive(Debug)]
pub(crate) struct Shares {
    bound: Bound,
    taken: Mutex<Places<Holder>>,
}

/// A part of a bound. Dropping the part gives it back.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    holder: Holder,
    amount: usize,
}

impl Shares {
    /// A new `bound` of which nothing is taken.
    pub(crate) fn of(bound: Bound) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Shares { bound, taken })
    }

    /// A new bound of `max`, of which one holder may have `share`.
    pub(crate) fn new(max: usize, share: usize) -> Arc<Self> {
        Shares::of(Bound::new(max, share))
    }

    /// Takes one place.
    pub(crate) fn take(self: &Arc<Self>, holder: &Holder) -> Result<Share, Full> {
        self.take_many(holder, 1)
    }

    /// Takes several places.
    pub(crate) fn take_many(
        self: &Arc<Self>,
        holder: &Holder,
        amount: usize,
    ) -> Result<Share, Full> {
        let mut taken = self.taken.lock();
        taken.check(holder, amount, self.bound)?;
        taken.take(holder, amount);
        Ok(Share {
            of: self.clone(),
            holder: holder.clone(),
            amount,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.taken.lock().give_back(&self.holder, self.amount);
    }
}

#[cfg(test)]
mod tests;
