//! A bounded memory of past things.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The newest entries, at most `MOST` of them.
#[derive(Debug)]
pub(crate) struct Remembered<K, V, const MOST: usize> {
    all: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V, const MOST: usize> Default for Remembered<K, V, MOST> {
    fn default() -> Self {
        Remembered {
            all: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V, const MOST: usize> Remembered<K, V, MOST> {
    /// Remembers a value as the newest entry. Returns the value that is forgotten for it: the key's former
    /// value, or the value of the oldest entry.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let forgotten = self.remove(&key).or_else(|| self.make_room());
        self.order.push_back(key.clone());
        self.all.insert(key, value);
        forgotten
    }

    /// The value of that key, if it is remembered.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.all.get(key)
    }

    /// Forgets the value of that key.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let value = self.all.remove(key)?;
        self.order.retain(|it| it.borrow() != key);
        Some(value)
    }

    fn make_room(&mut self) -> Option<V> {
        let is_full = self.order.len() >= MOST;
        let oldest = is_full.then(|| self.order.pop_front()).flatten()?;
        self.all.remove(&oldest)
    }

    /// All remembered entries, oldest first.
    pub fn into_all(mut self) -> impl Iterator<Item = (K, V)> {
        self.order.into_iter().filter_map(move |key| {
            let value = self.all.remove(&key)?;
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
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_remembered_and_each_that_is_forgotten_is_named_once() {
        let mut remembered: Remembered<String, usize, 3> = Remembered::default();
        for number in 0..3 {
            assert_eq!(remembered.insert(number.to_string(), number), None);
        }
        assert_eq!(
            remembered.insert("1".into(), 10),
            Some(1),
            "it is the newest now"
        );
        assert_eq!(remembered.insert("3".into(), 3), Some(0));
        assert_eq!(remembered.get("0"), None);
        assert_eq!(remembered.remove("2"), Some(2));
        assert_eq!(remembered.insert("4".into(), 4), None);
        assert_eq!(remembered.len(), 3);
        let all: Vec<_> = remembered.into_all().map(|(_, value)| value).collect();
        assert_eq!(all, [10, 3, 4]);
    }
}
