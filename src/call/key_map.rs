//! What is known by the keys a host or an agent hands out.

/// Values by key, in the order of their keys.
///
/// Keys are handed out in rising order, so a new one goes to the end, and a key is found by binary
/// search. A removed entry leaves a gap; once most are gaps they are closed. Values are boxed, so
/// that moving them is cheap and one code serves all maps.
#[derive(Debug)]
pub struct KeyMap<V> {
    keys: Vec<u32>,
    values: Vec<Option<Box<V>>>,
    gaps: usize,
}

impl<V> Default for KeyMap<V> {
    fn default() -> Self {
        KeyMap {
            keys: Vec::new(),
            values: Vec::new(),
            gaps: 0,
        }
    }
}

impl<V> KeyMap<V> {
    /// The value of a key.
    pub fn get(&self, key: u32) -> Option<&V> {
        self.values.get(find(&self.keys, key)?)?.as_deref()
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: u32) -> Option<&mut V> {
        let index = find(&self.keys, key)?;
        self.values.get_mut(index)?.as_deref_mut()
    }

    /// Whether there is a value for a key.
    pub fn contains(&self, key: u32) -> bool {
        self.get(key).is_some()
    }

    /// Adds a value. The key must have none.
    pub fn insert(&mut self, key: u32, value: V) {
        self.insert_boxed(key, Box::new(value));
    }

    fn insert_boxed(&mut self, key: u32, value: Box<V>) {
        let index = self.keys.partition_point(|it| *it < key);
        if self.keys.get(index) == Some(&key) {
            self.gaps -= 1;
            self.values[index] = Some(value);
        } else {
            self.keys.insert(index, key);
            self.values.insert(index, Some(value));
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: u32) -> Option<Box<V>> {
        let index = find(&self.keys, key)?;
        let value = self.values.get_mut(index)?.take()?;
        self.gaps += 1;
        if self.gaps > 32 && self.gaps * 2 > self.keys.len() || self.gaps == self.keys.len() {
            self.close_gaps();
        }
        Some(value)
    }

    fn close_gaps(&mut self) {
        let mut kept = 0;
        for index in 0..self.keys.len() {
            if self.values[index].is_some() {
                self.keys.swap(kept, index);
                self.values.swap(kept, index);
                kept += 1;
            }
        }
        self.keys.truncate(kept);
        self.values.truncate(kept);
        self.gaps = 0;
    }

    /// Takes out the value with the lowest key.
    pub fn remove_first(&mut self) -> Option<Box<V>> {
        let first = self.values.iter().position(Option::is_some)?;
        self.remove(self.keys[first])
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.keys.len() - self.gaps
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys and values, by key.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        let entries = self.keys.iter().zip(&self.values);
        entries.filter_map(|(key, value)| Some((*key, value.as_deref()?)))
    }

    /// The keys of the values that `is_meant` picks, in order.
    pub fn keys_where(&self, is_meant: impl Fn(&V) -> bool) -> Vec<u32> {
        let mut keys = Vec::new();
        for (key, value) in self.iter() {
            if is_meant(value) {
                keys.push(key);
            }
        }
        keys
    }
}

fn find(keys: &[u32], key: u32) -> Option<usize> {
    keys.binary_search(&key).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_closes_gaps() {
        let mut map = KeyMap::default();
        for key in 1..=1_000 {
            map.insert(key, key * 2);
        }
        for key in (1..=1_000).filter(|key| key % 10 != 0) {
            assert_eq!(map.remove(key), Some(Box::new(key * 2)));
            assert_eq!(map.remove(key), None);
        }
        assert_eq!(map.len(), 100);
        assert!(map.keys.len() < 250);
        assert_eq!(map.get(500), Some(&1_000));
        assert_eq!(map.get(501), None);
        let keys = map.keys_where(|value| *value > 1_900);
        assert_eq!(keys, [960, 970, 980, 990, 1_000]);
    }

    #[test]
    fn takes_a_key_out_of_order() {
        let mut map = KeyMap::default();
        map.insert(u32::MAX, 'z');
        map.insert(1, 'a');
        map.remove(u32::MAX);
        map.insert(u32::MAX, 'y');
        let all: Vec<_> = map.iter().collect();
        assert_eq!(all, [(1, &'a'), (u32::MAX, &'y')]);
    }
}
