//! A bounded memory of past things.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The newest entries, at most `MOST` of them.
#[derive(Debug)]
pub(crate) struct Remembered<K, V, const MOST: usize> {
    /// The values with their numbers.
    all: HashMap<K, (u64, V)>,
    /// The keys by number, so that each entry is removed at the same cost.
    order: BTreeMap<u64, K>,
    next: u64,
}

impl<K, V, const MOST: usize> Default for Remembered<K, V, MOST> {
    fn default() -> Self {
        Remembered {
            all: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
        }
    }
}

impl<K: Clone + Eq + Hash, V, const MOST: usize> Remembered<K, V, MOST> {
    /// Remembers a value as the newest entry. Returns the value that is forgotten for it: the key's former
    /// value, or the value of the oldest entry.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let forgotten = self.remove(&key).or_else(|| self.make_room());
        let number = self.line_up(&key);
        self.all.insert(key, (number, value));
        forgotten
    }

    /// The value of that key, if it is remembered.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.all.get(key).map(|(_, value)| value)
    }

    /// Forgets the value of that key.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (number, value) = self.all.remove(key)?;
        self.order.remove(&number);
        Some(value)
    }

    fn line_up(&mut self, key: &K) -> u64 {
        let number = self.next;
        self.next += 1;
        self.order.insert(number, key.clone());
        number
    }

    fn make_room(&mut self) -> Option<V> {
        let is_full = self.order.len() >= MOST;
        let (_, oldest) = is_full.then(|| self.order.pop_first()).flatten()?;
        self.all.remove(&oldest).map(|(_, value)| value)
    }

    /// All remembered entries, oldest first.
    pub fn into_all(mut self) -> impl Iterator<Item = (K, V)> {
        self.order.into_values().filter_map(move |key| {
            let (_, value) = self.all.remove(&key)?;
            Some((key, value))
        })
    }

    /// How many entries are remembered.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        assert_eq!(self.order.len(), self.all.len());
        self.all.len()
    }
}

#[cfg(test)]
mod tests;
