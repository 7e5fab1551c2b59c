//! Semaphores by what they are for.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// One with this many permits, or as many as there can be.
pub(crate) fn permits(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)))
}

/// Semaphores by name, each kept while somebody has one of its permits or waits for one.
#[derive(Debug)]
pub(crate) struct Semaphores<K>(Mutex<HashMap<K, Weak<Semaphore>>>);

impl<K> Default for Semaphores<K> {
    fn default() -> Self {
        Semaphores(Mutex::default())
    }
}

impl<K: Eq + Hash> Semaphores<K> {
    /// The one of that name, which has `most` permits.
    pub fn get<Q>(&self, name: &Q, most: usize) -> Arc<Semaphore>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut known = self.0.lock();
        if let Some(known) = known.get(name).and_then(Weak::upgrade) {
            return known;
        }
        // Those that have or await a permit hold the semaphore. So this is seldom done, and keeps the
        // table about as small as what is in use.
        if known.len() == known.capacity() {
            known.retain(|_, it| it.strong_count() > 0);
        }
        let new = permits(most);
        known.insert(name.to_owned(), Arc::downgrade(&new));
        new
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// How many are in use: somebody has a permit, or waits for one.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        let known = self.0.lock();
        known.values().filter(|it| it.strong_count() > 0).count()
    }
}
