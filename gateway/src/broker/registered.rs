//! What the apps of this worker have registered: their number and the bytes of their offers, for all
//! and for each owner.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Apps, and the bytes of what they offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub apps: usize,
    pub bytes: usize,
}

impl Amount {
    /// One app that offers this many bytes.
    pub fn app(bytes: usize) -> Self {
        Amount { apps: 1, bytes }
    }

    fn add(&mut self, more: Self) {
        self.apps += more.apps;
        self.bytes += more.bytes;
    }

    fn subtract(&mut self, less: Self) {
        self.apps = self.apps.saturating_sub(less.apps);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

/// The amounts of all, and by the names of their owners.
#[derive(Debug, Default)]
pub(super) struct Registered {
    all: Amount,
    by_owner: FxHashMap<Arc<str>, Amount>,
}

impl Registered {
    pub fn all(&self) -> Amount {
        self.all
    }

    pub fn of(&self, owner: &str) -> Amount {
        self.by_owner.get(owner).copied().unwrap_or_default()
    }

    pub fn add(&mut self, owner: &Arc<str>, amount: Amount) {
        self.all.add(amount);
        self.by_owner.entry(owner.clone()).or_default().add(amount);
    }

    pub fn give_back(&mut self, owner: &str, amount: Amount) {
        self.all.subtract(amount);
        if let Some(own) = self.by_owner.get_mut(owner) {
            own.subtract(amount);
            if own.apps == 0 {
                self.by_owner.remove(owner);
            }
        }
    }

    /// An app of `owner` offers something else than before.
    pub fn change(&mut self, owner: &Arc<str>, before: usize, now: usize) {
        self.add(owner, Amount::app(now));
        self.give_back(owner, Amount::app(before));
    }
}
