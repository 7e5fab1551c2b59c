//! Things that are in use, by name.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// A semaphore with this many permits, or as many as a semaphore can have.
pub(crate) fn permits(most: usize) -> Semaphore {
    Semaphore::new(most.min(Semaphore::MAX_PERMITS))
}

/// Things by name. A thing stays for as long as somebody holds it. Everybody who has a permit of a
/// semaphore, or waits for a permit, holds the semaphore.
#[derive(Debug)]
pub(crate) struct InUse<K, T>(Mutex<HashMap<K, Weak<T>>>);

impl<K, T> Default for InUse<K, T> {
    fn default() -> Self {
        InUse(Mutex::default())
    }
}

impl<K: Eq + Hash, T> InUse<K, T> {
    /// The thing of that name. If nobody holds one, `new` makes it.
    pub fn get<Q>(&self, name: &Q, new: impl FnOnce() -> T) -> Arc<T>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut known = self.0.lock();
        if let Some(known) = known.get(name).and_then(Weak::upgrade) {
            return known;
        }
        // This happens seldom, and keeps the table about as small as the number of things in use.
        if known.len() == known.capacity() {
            known.retain(|_, it| it.strong_count() > 0);
        }
        let new = Arc::new(new());
        known.insert(name.to_owned(), Arc::downgrade(&new));
        new
    }

    /// The thing of that name, if somebody holds one.
    pub fn find<Q>(&self, name: &Q) -> Option<Arc<T>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.lock().get(name)?.upgrade()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// How many things are in use.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        let known = self.0.lock();
        known.values().filter(|it| it.strong_count() > 0).count()
    }
}
