//! Places that each holder has its share of, and the last of which are for those who have none.

use std::fmt;
use std::sync::Arc;

use crate::tally::Tally;

/// How many of so many places are the last: a tenth.
pub(crate) fn last_places(max: usize) -> usize {
    max / 10
}

/// Who has how many places. Holders go by their names.
#[derive(Debug, Default)]
pub(super) struct Places {
    all: usize,
    by: Tally<Arc<str>, usize>,
}

/// Why there is no place for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// All are taken.
    All(usize),
    /// The holder has its share.
    Share(usize),
    /// The last ones are for those who have none.
    Last(usize),
}

impl fmt::Display for NoPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlace::All(max) => write!(f, "all {max} are taken"),
            NoPlace::Share(share) => write!(f, "{share} are yours, and you may have no more"),
            NoPlace::Last(last) => write!(f, "the last {last} are for those who have none"),
        }
    }
}

impl Places {
    /// Whether `holder` may take one more of `max`, of which one holder may have `share`.
    pub fn check(&self, holder: &str, max: usize, share: usize) -> Result<(), NoPlace> {
        let own = self.by.of(holder);
        if self.all >= max {
            return Err(NoPlace::All(max));
        }
        if own >= share {
            return Err(NoPlace::Share(share));
        }
        let last = last_places(max);
        match own > 0 && self.all >= max - last {
            true => Err(NoPlace::Last(last)),
            false => Ok(()),
        }
    }

    pub fn take(&mut self, holder: &Arc<str>) {
        self.all += 1;
        self.by.change(holder, |own| *own += 1);
    }

    pub fn give_back(&mut self, holder: &Arc<str>) {
        self.all -= 1;
        self.by.change(holder, |own| *own -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_all_places_and_the_last_are_for_those_who_have_none() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(Arc::from);
        let mut places = Places::default();
        let fill = |places: &mut Places, holder: &Arc<str>| loop {
            match places.check(holder, 20, 10) {
                Ok(()) => places.take(holder),
                Err(why) => return why,
            }
        };
        assert_eq!(fill(&mut places, &a), NoPlace::Share(10));
        assert_eq!(fill(&mut places, &b), NoPlace::Last(2));
        assert_eq!(fill(&mut places, &c), NoPlace::Last(2));
        assert_eq!(fill(&mut places, &d), NoPlace::All(20));
        places.give_back(&d);
        assert_eq!(fill(&mut places, &b), NoPlace::Last(2));
        assert_eq!(places.check("e", 20, 10), Ok(()));
    }

    #[test]
    fn where_there_are_few_places_none_is_kept() {
        let (a, mut places) = (Arc::from("a"), Places::default());
        places.take(&a);
        assert_eq!(places.check("a", 2, 2), Ok(()));
        assert_eq!(places.check("a", 2, 1), Err(NoPlace::Share(1)));
    }
}
