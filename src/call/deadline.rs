//! Deadlines, so that one timer serves every call.

use super::Millis;

/// A set of deadlines, earliest first. Entries of things that have ended meanwhile are skipped
/// when they come up: the caller says which keys still count.
///
/// They are kept in order, because a new one is nearly always the latest.
#[derive(Debug)]
pub struct Deadlines<K> {
    entries: Vec<(Millis, K)>,
    /// How many of them have come up.
    gone: usize,
    stale: usize,
}

impl<K> Default for Deadlines<K> {
    fn default() -> Self {
        Deadlines {
            entries: Vec::new(),
            gone: 0,
            stale: 0,
        }
    }
}

impl<K: Copy> Deadlines<K> {
    /// Adds a deadline.
    pub fn insert(&mut self, at: Millis, key: K) {
        if self.gone * 2 > self.entries.len() {
            self.entries.drain(..self.gone);
            self.gone = 0;
        }
        let mut index = self.entries.len();
        while index > self.gone && self.entries[index - 1].0 > at {
            index -= 1;
        }
        self.entries.insert(index, (at, key));
    }

    /// Notes that one key has ended before its deadline. Once such entries outnumber the live
    /// ones they are taken out, so that long timeouts of short calls do not pile up.
    pub fn forget(&mut self, live: impl Fn(K) -> bool) {
        self.stale += 1;
        if self.stale > 64 && self.stale * 2 > self.len() {
            self.entries.drain(..self.gone);
            self.entries.retain(|(_, key)| live(*key));
            self.gone = 0;
            self.stale = 0;
        }
    }

    /// The next key whose deadline has passed.
    pub fn pop_expired(&mut self, now: Millis) -> Option<K> {
        let (at, key) = *self.entries.get(self.gone)?;
        if at > now {
            return None;
        }
        self.gone += 1;
        Some(key)
    }

    /// The earliest deadline whose key is still live.
    pub fn next(&mut self, live: impl Fn(K) -> bool) -> Option<Millis> {
        loop {
            let (at, key) = *self.entries.get(self.gone)?;
            if live(key) {
                return Some(at);
            }
            self.gone += 1;
            self.stale = self.stale.saturating_sub(1);
        }
    }

    /// How many entries are held, stale ones included.
    pub fn len(&self) -> usize {
        self.entries.len() - self.gone
    }

    /// Whether none is held.
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
    fn does_not_pile_up() {
        let mut deadlines = Deadlines::default();
        for key in 0..10_000 {
            deadlines.insert(1e9, key);
            deadlines.forget(|_| false);
        }
        assert!(deadlines.len() < 200, "{}", deadlines.len());
    }
}
