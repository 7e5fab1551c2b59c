//! The requests of each token that wait for an answer, over all its connections: with many of them
//! one token must not have the gateway remember without bounds.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::pending::{Amount, Counts};
use crate::wire::Request;

/// How much of each type waits for an answer, by the names of the owners.
#[derive(Debug, Default)]
pub(super) struct InFlight(FxHashMap<Arc<str>, Counts>);

impl InFlight {
    pub(super) fn of(&self, owner: &Arc<str>, request: Request) -> Amount {
        let own = self.0.get(owner).map(|it| it[request as usize]);
        own.unwrap_or_default()
    }

    pub(super) fn add(&mut self, owner: &Arc<str>, request: Request, amount: Amount) {
        let counts = match self.0.get_mut(owner) {
            Some(counts) => counts,
            None => self.0.entry(owner.clone()).or_default(),
        };
        counts[request as usize].add(amount);
    }

    pub(super) fn give_back(&mut self, owner: &Arc<str>, counts: Counts) {
        let Some(left) = self.0.get_mut(owner) else {
            return;
        };
        for (left, count) in left.iter_mut().zip(counts) {
            left.take(count);
        }
        if *left == Counts::default() {
            self.0.remove(owner);
        }
    }
}
