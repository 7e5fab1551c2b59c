//! Bounds in which each holder has a share.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

use super::quota_key::QuotaKey;
use super::tally::Tally;

/// How many of `max` places are the last places: a tenth.
pub(crate) fn last_places(max: usize) -> usize {
    max / 10
}

/// The number of places, and how they are shared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    max: usize,
    /// How many places one holder may have.
    share: usize,
    /// How many of the last places are for holders without a place.
    last: usize,
}

impl Bound {
    /// `max` places. One holder may have `share` of them.
    pub fn new(max: usize, share: usize) -> Self {
        let last = 0;
        Bound { max, share, last }
    }

    /// Like [`Bound::new`], but the last places are for holders without a place.
    pub fn with_last_kept(max: usize, share: usize) -> Self {
        let last = last_places(max);
        Bound { max, share, last }
    }
}

/// Why a holder may not take a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// All places are taken.
    All(usize),
    /// The holder has its full share.
    Share(usize),
    /// The last places are for holders without a place.
    Last(usize),
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Full::All(max) => write!(f, "all {max} are taken"),
            Full::Share(share) => write!(f, "{share} are yours, and you may have no more"),
            Full::Last(last) => write!(f, "the last {last} are for those who have none"),
        }
    }
}

/// The places of a bound. Who comes when no place is free is refused.
#[derive(Debug)]
pub(crate) struct Budget<K = QuotaKey> {
    bound: Bound,
    taken: Mutex<Taken<K>>,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    by: Tally<K, usize>,
}

/// Places that a holder has taken. Dropping the permit gives them back.
#[derive(Debug)]
pub(crate) struct Permit<K: Clone + Eq + Hash = QuotaKey> {
    of: Arc<Budget<K>>,
    key: K,
    amount: usize,
}

impl<K: Clone + Eq + Hash> Budget<K> {
    /// `max` places. One holder may have `share` of them.
    pub fn new(max: usize, share: usize) -> Arc<Self> {
        Budget::of(Bound::new(max, share))
    }

    /// The places of a bound, none of them taken.
    pub fn of(bound: Bound) -> Arc<Self> {
        let (all, by) = (0, Tally::default());
        let taken = Mutex::new(Taken { all, by });
        Arc::new(Budget { bound, taken })
    }

    /// How many places are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.lock().all
    }

    /// Takes `amount` places.
    pub fn take(self: &Arc<Self>, key: &K, amount: usize) -> Result<Permit<K>, Full> {
        let Bound { max, share, last } = self.bound;
        let mut taken = self.taken.lock();
        let own = taken.by.of(key);
        let all = taken.all.saturating_add(amount);
        if all > max {
            return Err(Full::All(max));
        }
        if own.saturating_add(amount) > share {
            return Err(Full::Share(share));
        }
        if own > 0 && all > max - last {
            return Err(Full::Last(last));
        }
        taken.all = all;
        taken.by.change(key, |own| *own += amount);
        Ok(Permit {
            of: self.clone(),
            key: key.clone(),
            amount,
        })
    }
}

impl<K: Clone + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut taken = self.of.taken.lock();
        taken.all -= self.amount;
        taken.by.change(&self.key, |own| *own -= self.amount);
    }
}

#[cfg(test)]
mod tests;
