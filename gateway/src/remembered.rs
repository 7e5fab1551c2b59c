//! What is remembered of what there was, as long as there is not too much of it.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The newest, at most `MOST` of them.
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
    /// Remembers one, as the newest. The value that is forgotten for it: its own one before, or that of
    /// the oldest.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let forgotten = self.remove(&key).or_else(|| self.make_room());
        self.order.push_back(key.clone());
        self.all.insert(key, value);
        forgotten
    }

    /// That one, if it is remembered.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.all.get(key)
    }

    /// That one, to be changed.
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.all.get_mut(key)
    }

    /// That one, which is remembered as `new` if it is not yet.
    pub fn get_or_insert(&mut self, key: K, new: V) -> &mut V {
        if !self.all.contains_key(&key) {
            self.make_room();
            self.order.push_back(key.clone());
        }
        self.all.entry(key).or_insert(new)
    }

    /// Forgets one.
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

    /// All that are remembered, oldest first.
    pub fn into_all(mut self) -> impl Iterator<Item = (K, V)> {
        self.order.into_iter().filter_map(move |key| {
            let value = self.all.remove(&key)?;
            Some((key, value))
        })
    }

    /// How many are remembered.
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
