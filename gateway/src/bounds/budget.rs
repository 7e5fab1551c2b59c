//! A bound in which each key has a share.

use std::sync::Arc;

use parking_lot::Mutex;

use super::places::{Bound, Full, Places};
use super::quota_key::QuotaKey;

/// A bound, and how much each key has taken of it. Who comes when nothing is left is refused.
#[derive(Debug)]
pub(crate) struct Budget {
    bound: Bound,
    taken: Mutex<Places<QuotaKey>>,
}

/// A part of a budget. Dropping the permit gives the part back.
#[derive(Debug)]
pub(crate) struct Permit {
    of: Arc<Budget>,
    key: QuotaKey,
    amount: usize,
}

impl Budget {
    /// A budget of `max`, of which one key may have `share`.
    pub fn new(max: usize, share: usize) -> Arc<Self> {
        Budget::of(Bound::new(max, share))
    }

    /// A budget of which nothing is taken.
    pub fn of(bound: Bound) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Budget { bound, taken })
    }

    /// Takes `amount` of the budget.
    pub fn take(self: &Arc<Self>, key: &QuotaKey, amount: usize) -> Result<Permit, Full> {
        let mut taken = self.taken.lock();
        taken.check(key, amount, self.bound)?;
        taken.take(key, amount);
        Ok(Permit {
            of: self.clone(),
            key: key.clone(),
            amount,
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.of.taken.lock().give_back(&self.key, self.amount);
    }
}

#[cfg(test)]
mod tests;
