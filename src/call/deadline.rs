//! Deadlines: one timer serves every call.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Millis;

/// A set of deadlines, earliest first. Keys whose call has ended are skipped when their time comes:
/// the caller says which keys still count.
#[derive(Debug)]
pub struct Deadlines<K> {
    entries: BinaryHeap<Entry<K>>,
    stale: usize,
}

#[derive(Debug)]
struct Entry<K> {
    at: Millis,
    key: K,
}

/// A heap gives its greatest entry first, so the earliest deadline is the greatest. Of equal times,
/// the least key is.
impl<K: Ord> Ord for Entry<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = other.at.total_cmp(&self.at);
        earlier.then_with(|| other.key.cmp(&self.key))
    }
}

impl<K: Ord> PartialOrd for Entry<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> PartialEq for Entry<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K: Ord> Eq for Entry<K> {}

impl<K: Ord> Default for Deadlines<K> {
    fn default() -> Self {
        Deadlines {
            entries: BinaryHeap::new(),
            stale: 0,
        }
    }
}

impl<K: Copy + Ord> Deadlines<K> {
    /// Adds a deadline.
    pub fn insert(&mut self, at: Millis, key: K) {
        self.entries.push(Entry { at, key });
    }

    /// Notes that one key has ended before its deadline. Once ended entries outnumber the live
    /// ones, they are removed: long timeouts of short calls do not pile up.
    pub fn forget(&mut self, live: impl Fn(K) -> bool) {
        self.stale += 1;
        if self.stale > 64 && self.stale * 2 > self.len() {
            self.entries.retain(|entry| live(entry.key));
            self.stale = 0;
        }
    }

    /// The next key whose deadline has passed.
    pub fn pop_expired(&mut self, now: Millis) -> Option<K> {
        let due = self.entries.peek().filter(|entry| entry.at <= now)?;
        let key = due.key;
        self.entries.pop();
        Some(key)
    }

    /// The earliest deadline whose key is still live.
    pub fn next(&mut self, live: impl Fn(K) -> bool) -> Option<Millis> {
        loop {
            let entry = self.entries.peek()?;
            if live(entry.key) {
                return Some(entry.at);
            }
            self.entries.pop();
            self.stale = self.stale.saturating_sub(1);
        }
    }

    /// How many entries are held, with those of ended keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earliest_first_and_stale_skipped() {
        let mut deadlines = Deadlines::default();
        deadlines.insert(30.0, 3);
        deadlines.insert(10.0, 1);
        deadlines.insert(20.0, 2);
        assert_eq!(deadlines.next(|key| key != 1), Some(20.0));
        assert_eq!(deadlines.pop_expired(5.0), None);
        assert_eq!(deadlines.pop_expired(25.0), Some(2));
        assert_eq!(deadlines.pop_expired(25.0), None);
    }

    #[test]
    fn those_that_come_up_make_room() {
        let mut deadlines = Deadlines::default();
        for key in 0..10_000 {
            deadlines.insert(f64::from(key) + 10.0, key);
            let expired = deadlines.pop_expired(f64::from(key));
            assert_eq!(expired, (key >= 10).then(|| key - 10));
        }
        assert!(deadlines.entries.len() < 100);
    }

    #[test]
    fn of_the_same_time_the_least_key_comes_first_whenever_it_was_added() {
        let mut deadlines = Deadlines::default();
        for key in [5, 3, 4, 1, 2] {
            deadlines.insert(10.0, key);
        }
        let order: Vec<_> = std::iter::from_fn(|| deadlines.pop_expired(10.0)).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn does_not_pile_up() {
        let mut deadlines = Deadlines::default();
        for key in 0..10_000 {
            deadlines.insert(1e9, key);
            deadlines.forget(|_| false);
        }
        assert!(deadlines.len() < 200, "{}", deadlines.len());
    }

    #[test]
    fn ended_keys_are_removed_once_they_are_many_and_outnumber_the_others() {
        let ended = |deadlines: &mut Deadlines<u32>, count| {
            for _ in 0..count {
                deadlines.forget(|key| key >= 66);
            }
        };
        let of = |count| {
            let mut deadlines = Deadlines::default();
            assert!(deadlines.is_empty());
            for key in 0..count {
                deadlines.insert(10.0, key);
            }
            assert!(!deadlines.is_empty());
            deadlines
        };
        let mut half = of(130);
        ended(&mut half, 65);
        assert_eq!(half.len(), 130);
        ended(&mut half, 1);
        assert_eq!(half.len(), 64);
        // Fewer than so many are not worth the walk.
        let mut few = of(100);
        ended(&mut few, 64);
        assert_eq!(few.len(), 100);
        ended(&mut few, 1);
        assert_eq!(few.len(), 34);
    }
}
