//! The requests of each token that wait for an answer, over all its connections: with many of them
//! one token must not have the gateway remember without bounds.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::pending::Counts;
use crate::wire::Request;

/// How many requests of each type wait for an answer, by the names of their owners.
#[derive(Debug, Default)]
pub(super) struct InFlight(FxHashMap<Arc<str>, Counts>);

impl InFlight {
    pub(super) fn count(&self, owner: &Arc<str>, request: Request) -> usize {
        self.0.get(owner).map_or(0, |it| it[request as usize])
    }

    pub(super) fn add(&mut self, owner: &Arc<str>, request: Request) {
        let counts = match self.0.get_mut(owner) {
            Some(counts) => counts,
            None => self.0.entry(owner.clone()).or_default(),
        };
        counts[request as usize] += 1;
    }

    pub(super) fn give_back(&mut self, owner: &Arc<str>, counts: Counts) {
        let Some(left) = self.0.get_mut(owner) else {
            return;
        };
        for (left, count) in left.iter_mut().zip(counts) {
            *left = left.saturating_sub(count);
        }
        if *left == Counts::default() {
            self.0.remove(owner);
        }
    }
}
