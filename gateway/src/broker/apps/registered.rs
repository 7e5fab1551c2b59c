//! What the apps of this worker have registered: how many apps, and the bytes of their offers, in all and for
//! each owner.

use std::sync::Arc;

use crate::bounds::Tally;
use crate::broker::amount::Amount;

/// The amount in all, and the amounts by the names of the owners.
#[derive(Debug, Default)]
pub(in crate::broker) struct Registered {
    all: Amount,
    by_owner: Tally<Arc<str>, Amount>,
}

impl Registered {
    pub fn all(&self) -> Amount {
        self.all
    }

    pub fn of(&self, owner: &str) -> Amount {
        self.by_owner.of(owner)
    }

    pub fn add(&mut self, owner: &Arc<str>, amount: Amount) {
        self.all.add(amount);
        self.by_owner.change(owner, |own| own.add(amount));
    }

    pub fn give_back(&mut self, owner: &Arc<str>, amount: Amount) {
        self.all.take(amount);
        self.by_owner.change(owner, |own| own.take(amount));
    }

    /// An app of `owner` has changed its offer.
    pub fn change(&mut self, owner: &Arc<str>, before: usize, now: usize) {
        self.add(owner, Amount::one(now));
        self.give_back(owner, Amount::one(before));
    }
}
