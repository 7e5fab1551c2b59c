//! How much of something each holder has.

use std::borrow::Borrow;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The amounts by holder. A holder with nothing is forgotten.
#[derive(Debug)]
pub(crate) struct Tally<K, T>(FxHashMap<K, T>);

impl<K, T> Default for Tally<K, T> {
    fn default() -> Self {
        Tally(FxHashMap::default())
    }
}

impl<K: Clone + Eq + Hash, T: Copy + Default + PartialEq> Tally<K, T> {
    /// The amount of that holder.
    pub fn of<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> T
    where
        K: Borrow<Q>,
    {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// Changes the amount of that holder.
    pub fn change(&mut self, key: &K, change: impl FnOnce(&mut T)) {
        let Some(has) = self.0.get_mut(key) else {
            let mut has = T::default();
            change(&mut has);
            if has != T::default() {
                self.0.insert(key.clone(), has);
            }
            return;
        };
        change(has);
        if *has == T::default() {
            self.0.remove(key);
        }
    }

    /// How many holders have something.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The holders with their amounts.
    pub fn iter(&self) -> impl Iterator<Item = (&K, T)> {
        self.0.iter().map(|(key, has)| (key, *has))
    }

    /// Takes the amounts of all holders.
    pub fn take(&mut self) -> impl Iterator<Item = (K, T)> + use<K, T> {
        std::mem::take(&mut self.0).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_nothing_is_forgotten() {
        let mut tally: Tally<String, usize> = Tally::default();
        let [a, b] = ["a", "b"].map(String::from);
        tally.change(&a, |has| *has += 2);
        tally.change(&b, |has| *has = has.saturating_sub(1));
        assert_eq!((tally.of("a"), tally.of("b"), tally.len()), (2, 0, 1));
        tally.change(&a, |has| *has -= 2);
        assert_eq!((tally.of("a"), tally.len()), (0, 0));
    }
}
