//! Places that several holders share. Each holder has a share, and the last places are for holders without a
//! place.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;

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

/// The places that each holder has taken.
#[derive(Debug)]
pub(crate) struct Places<K> {
    all: usize,
    by: Tally<K, usize>,
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

impl<K> Default for Places<K> {
    fn default() -> Self {
        Places {
            all: 0,
            by: Tally::default(),
        }
    }
}

impl<K: Clone + Eq + Hash> Places<K> {
    /// Whether `holder` may take `amount` more places.
    pub fn check<Q>(&self, holder: &Q, amount: usize, bound: Bound) -> Result<(), Full>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let Bound { max, share, last } = bound;
        let own = self.by.of(holder);
        let all = self.all.saturating_add(amount);
        if all > max {
            return Err(Full::All(max));
        }
        if own.saturating_add(amount) > share {
            return Err(Full::Share(share));
        }
        match own > 0 && all > max - last {
            true => Err(Full::Last(last)),
            false => Ok(()),
        }
    }

    /// Takes `amount` places, even if there is no room.
    pub fn take(&mut self, holder: &K, amount: usize) {
        self.all += amount;
        self.by.change(holder, |own| *own += amount);
    }

    /// Gives back `amount` places.
    pub fn give_back(&mut self, holder: &K, amount: usize) {
        self.all -= amount;
        self.by.change(holder, |own| *own -= amount);
    }

    /// How many places are taken, and by how many holders.
    #[cfg(test)]
    pub fn taken(&self) -> (usize, usize) {
        (self.all, self.by.holders())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nobody_takes_all_places_and_the_last_are_for_those_who_have_none() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(Arc::from);
        let mut places = Places::<Arc<str>>::default();
        let fill = |places: &mut Places<Arc<str>>, holder: &Arc<str>| loop {
            match places.check(holder, 1, Bound::with_last_kept(20, 10)) {
                Ok(()) => places.take(holder, 1),
                Err(why) => return why,
            }
        };
        assert_eq!(fill(&mut places, &a), Full::Share(10));
        assert_eq!(fill(&mut places, &b), Full::Last(2));
        assert_eq!(fill(&mut places, &c), Full::Last(2));
        assert_eq!(fill(&mut places, &d), Full::All(20));
        places.give_back(&d, 1);
        assert_eq!(fill(&mut places, &b), Full::Last(2));
        assert_eq!(places.check("e", 1, Bound::with_last_kept(20, 10)), Ok(()));
    }

    #[test]
    fn where_there_are_few_places_none_is_kept() {
        let (a, mut places) = (Arc::from("a"), Places::<Arc<str>>::default());
        places.take(&a, 1);
        assert_eq!(places.check("a", 1, Bound::with_last_kept(2, 2)), Ok(()));
        assert_eq!(
            places.check("a", 1, Bound::with_last_kept(2, 1)),
            Err(Full::Share(1))
        );
    }
}
