//! Deadlines in the order of time.

use std::collections::BTreeSet;

use caphost::call::Millis;

/// When something is due. The key is the time's bits.
#[derive(Debug)]
pub(in crate::broker) struct Deadlines<K>(BTreeSet<(u64, K)>);

impl<K> Default for Deadlines<K> {
    fn default() -> Self {
        Deadlines(BTreeSet::new())
    }
}

impl<K: Copy + Ord> Deadlines<K> {
    /// Moves the deadline of `due` from `before` to `at`.
    pub fn change(&mut self, due: K, before: Option<Millis>, at: Option<Millis>) {
        if let Some(before) = before {
            self.0.remove(&(before.to_bits(), due));
        }
        self.0.extend(at.map(|at| (at.to_bits(), due)));
    }

    /// The first deadline.
    pub fn first(&self) -> Option<Millis> {
        self.0.first().map(|(at, _)| Millis::from_bits(*at))
    }

    /// Removes and returns a deadline that has passed.
    pub fn pop(&mut self, now: Millis) -> Option<K> {
        self.first().filter(|at| *at <= now)?;
        self.0.pop_first().map(|(_, due)| due)
    }

    /// How many deadlines there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
