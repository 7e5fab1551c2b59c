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
mod tests {
    use super::*;

    fn token(name: &str) -> Holder {
        Holder::Token(name.into())
    }

    #[test]
    fn nobody_has_more_than_a_share_and_all_together_no_more_than_there_is() {
        let shares = Shares::new(3, 2);
        let (a, b) = (token("a"), token("b"));
        let first = shares.take(&a).unwrap();
        let _second = shares.take(&a).unwrap();
        assert_eq!(shares.take(&a).unwrap_err(), Full::Share(2));
        let _third = shares.take(&b).unwrap();
        assert_eq!(shares.take(&b).unwrap_err(), Full::All(3));
        drop(first);
        assert!(shares.take(&a).is_ok());
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let (room, a) = (Shares::new(10, 10), token("a"));
        let six = room.take_many(&a, 6).unwrap();
        assert_eq!(room.take_many(&a, 5).unwrap_err(), Full::All(10));
        let four = room.take_many(&a, 4).unwrap();
        drop(six);
        assert!(room.take_many(&a, 6).is_ok() && room.take_many(&a, 7).is_err());
        drop(four);
        assert!(room.take_many(&a, 10).is_ok() && room.take_many(&a, usize::MAX).is_err());
    }

    #[test]
    fn a_party_with_its_share_leaves_the_rest_to_others() {
        let room = Shares::new(10, 4);
        let (a, b) = (token("a"), token("b"));
        let four = room.take_many(&a, 4).unwrap();
        assert_eq!(room.take(&a).unwrap_err(), Full::Share(4));
        let others = [room.take_many(&b, 4), room.take_many(&token("c"), 2)];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(room.take(&token("d")).unwrap_err(), Full::All(10));
        drop(four);
        assert!(room.take_many(&a, 4).is_ok());
    }

    #[test]
    fn holders_that_have_nothing_are_forgotten() {
        let shares = Shares::new(3, 2);
        for number in 0..1_000 {
            drop(shares.take(&token(&number.to_string())));
        }
        assert_eq!(shares.taken.lock().taken(), (0, 0));
    }

    #[test]
    fn an_ipv6_network_counts_as_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8::1:2:3:4"), "2001:db8::");
        assert_eq!(network("2001:db8:0:1::9"), "2001:db8:0:1::");
        assert_eq!(network("10.1.2.3"), "10.1.2.3");
        assert_eq!(network("::ffff:10.1.2.3"), "10.1.2.3");
    }
}
