//! Deadlines, so that one timer serves every call.

use alloc::collections::BinaryHeap;
use core::cmp::{Ordering, Reverse};

use super::Millis;

/// A set of deadlines, earliest first. Entries of things that have ended meanwhile are skipped
/// when they come up: the caller says which keys still count.
#[derive(Debug)]
pub struct Deadlines<K> {
    heap: BinaryHeap<Reverse<Entry<K>>>,
    stale: usize,
}

#[derive(Debug)]
struct Entry<K> {
    at: Millis,
    key: K,
}

impl<K: Ord> Ord for Entry<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at
            .total_cmp(&other.at)
            .then_with(|| self.key.cmp(&other.key))
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

impl<K: Ord + Copy> Default for Deadlines<K> {
    fn default() -> Self {
        Deadlines {
            heap: BinaryHeap::new(),
            stale: 0,
        }
    }
}

impl<K: Ord + Copy> Deadlines<K> {
    /// Adds a deadline.
    pub fn insert(&mut self, at: Millis, key: K) {
        self.heap.push(Reverse(Entry { at, key }));
    }

    /// Notes that one key has ended before its deadline. Once such entries outnumber the live
    /// ones the heap is rebuilt, so that long timeouts of short calls do not pile up.
    pub fn forget(&mut self, live: impl Fn(K) -> bool) {
        self.stale += 1;
        if self.stale > 64 && self.stale * 2 > self.heap.len() {
            self.heap.retain(|Reverse(entry)| live(entry.key));
            self.stale = 0;
        }
    }

    /// The next key whose deadline has passed.
    pub fn pop_expired(&mut self, now: Millis) -> Option<K> {
        if self.heap.peek()?.0.at > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.key)
    }

    /// The earliest deadline whose key is still live.
    pub fn next(&mut self, live: impl Fn(K) -> bool) -> Option<Millis> {
        loop {
            let Reverse(entry) = self.heap.peek()?;
            if live(entry.key) {
                return Some(entry.at);
            }
            self.heap.pop();
            self.stale = self.stale.saturating_sub(1);
        }
    }

    /// How many entries are held, stale ones included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
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
    fn does_not_pile_up() {
        let mut deadlines = Deadlines::default();
        for key in 0..10_000 {
            deadlines.insert(1e9, key);
            deadlines.forget(|_| false);
        }
        assert!(deadlines.len() < 200, "{}", deadlines.len());
    }
}
