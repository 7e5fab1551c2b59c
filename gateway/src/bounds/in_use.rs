//! What is in use, by name.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// One with this many permits, or as many as there can be.
pub(crate) fn permits(most: usize) -> Semaphore {
    Semaphore::new(most.min(Semaphore::MAX_PERMITS))
}

/// Things by name, each kept for as long as somebody holds it: who has a permit of a semaphore, or waits for
/// one, does.
#[derive(Debug)]
pub(crate) struct InUse<K, T>(Mutex<HashMap<K, Weak<T>>>);

impl<K, T> Default for InUse<K, T> {
    fn default() -> Self {
        InUse(Mutex::default())
    }
}

impl<K: Eq + Hash, T> InUse<K, T> {
    /// The one of that name. If nobody holds it, it is a new one.
    pub fn get<Q>(&self, name: &Q, new: impl FnOnce() -> T) -> Arc<T>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut known = self.0.lock();
        if let Some(known) = known.get(name).and_then(Weak::upgrade) {
            return known;
        }
        // This is seldom done, and keeps the table about as small as what is in use.
        if known.len() == known.capacity() {
            known.retain(|_, it| it.strong_count() > 0);
        }
        let new = Arc::new(new());
        known.insert(name.to_owned(), Arc::downgrade(&new));
        new
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// How many are in use.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        let known = self.0.lock();
        known.values().filter(|it| it.strong_count() > 0).count()
    }
}
