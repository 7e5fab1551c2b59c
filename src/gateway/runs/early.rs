//! Cancels for runs that are not registered yet.

use std::collections::{HashMap, VecDeque};

use super::NewRun;
use crate::gateway::tokens::Identity;

/// Cancels kept until a run with their id comes, or they are too old.
#[derive(Debug, Default)]
pub(super) struct EarlyCancels {
    by_id: HashMap<String, Vec<Early>>,
    order: VecDeque<(u64, String)>,
}

#[derive(Debug)]
struct Early {
    at: u64,
    by: Identity,
    reason: Option<String>,
}

impl EarlyCancels {
    /// Keeps a cancel, at most `max` of them.
    pub(super) fn insert(
        &mut self,
        request_id: &str,
        reason: Option<String>,
        by: &Identity,
        now: u64,
        max: usize,
    ) {
        let kept = self.by_id.entry(request_id.into()).or_default();
        match kept.iter_mut().find(|early| early.by == *by) {
            Some(early) => early.at = now,
            None => kept.push(Early {
                at: now,
                by: by.clone(),
                reason,
            }),
        }
        self.order.push_back((now, request_id.into()));
        while self.order.len() > max {
            self.drop_oldest();
        }
    }

    /// Forgets what came before `since`.
    pub(super) fn expire(&mut self, since: u64) {
        while self.order.front().is_some_and(|(at, _)| *at < since) {
            self.drop_oldest();
        }
    }

    /// Takes out the cancel that a run being registered meets: the reason it gave.
    pub(super) fn take(&mut self, run: &NewRun) -> Option<Option<String>> {
        if self.by_id.is_empty() {
            return None;
        }
        let of_dialect = run.dialect_id.as_deref();
        self.take_one(&run.id.to_string(), run)
            .or_else(|| self.take_one(of_dialect?, run))
    }

    fn take_one(&mut self, id: &str, run: &NewRun) -> Option<Option<String>> {
        let kept = self.by_id.get_mut(id)?;
        let allowed = |early: &Early| early.by.may_see(&run.owner, run.app.as_deref());
        let at = kept.iter().position(allowed)?;
        let early = kept.swap_remove(at);
        if kept.is_empty() {
            self.by_id.remove(id);
        }
        Some(early.reason)
    }

    fn drop_oldest(&mut self) {
        let Some((at, id)) = self.order.pop_front() else {
            return;
        };
        if let Some(kept) = self.by_id.get_mut(&id) {
            kept.retain(|early| early.at > at);
            if kept.is_empty() {
                self.by_id.remove(&id);
            }
        }
    }
}
