//! Cancels for runs that are not registered yet: of ids that nobody meets by chance, for a short
//! time. An id such as `2` is the next call of many a client.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use uuid::{Uuid, Variant};

use super::{NewRun, Runs};
use crate::tokens::Identity;

/// Cancels that are done with and remembered, 1 024: another worker may tell of one too late.
const DONE: usize = 1_024;

/// A cancel for a run yet to come.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct EarlyCancel {
    /// Names it, on all workers.
    pub key: Uuid,
    /// The run's own id, or a dialect's.
    pub request_id: String,
    /// Why.
    pub reason: Option<String>,
    /// Who.
    pub by: Identity,
    /// When, in Unix milliseconds.
    pub at: u64,
}

impl EarlyCancel {
    /// A new one.
    pub fn new(request_id: &str, reason: Option<String>, by: &Identity, at: u64) -> Self {
        EarlyCancel {
            key: Uuid::new_v4(),
            request_id: request_id.into(),
            reason,
            by: by.clone(),
            at,
        }
    }
}

/// Whether nobody meets an id by chance: it is a UUID made at random or of a clock and a machine
/// (versions 1, 4, 6 and 7). One made of a name is everybody's who knows the name, and nil is no one's.
fn is_unique(request_id: &str) -> bool {
    Uuid::parse_str(request_id).is_ok_and(|id| {
        id.get_variant() == Variant::RFC4122 && matches!(id.get_version_num(), 1 | 4 | 6 | 7)
    })
}

impl Runs {
    /// Whether a cancel of that id is kept for a run yet to come.
    pub fn keeps_early(&self, request_id: &str) -> bool {
        !self.retention.early.is_zero() && is_unique(request_id)
    }

    /// Cancels a run yet to come: one registered under its id within [`Retention::early`], which
    /// whoever cancels may see, is over at once. As it is kept, unless it has met its run before;
    /// none if cancels of its id are not kept.
    ///
    /// [`Retention::early`]: super::Retention::early
    pub fn cancel_early(&mut self, early: EarlyCancel, now: u64) -> Option<EarlyCancel> {
        self.expire(now);
        if !self.keeps_early(&early.request_id) {
            return None;
        }
        self.early.insert(early, self.retention.count)
    }

    /// A cancel for a run yet to come has met it on another worker.
    pub fn forget_early(&mut self, early: &EarlyCancel) {
        self.early.forget(early);
    }

    /// The cancels for runs yet to come.
    pub fn early_cancels(&self, now: u64) -> Vec<EarlyCancel> {
        self.early.list(self.early_since(now))
    }
}

/// Cancels kept until a run with their id comes, or they are too old.
#[derive(Debug, Default)]
pub(super) struct EarlyCancels {
    by_id: HashMap<String, Vec<EarlyCancel>>,
    order: VecDeque<(u64, String)>,
    done: VecDeque<Uuid>,
}

impl EarlyCancels {
    /// Keeps a cancel, at most `max` of them, unless it is done with. As it is kept: somebody who
    /// cancels again what is kept already only renews it.
    pub(super) fn insert(&mut self, early: EarlyCancel, max: usize) -> Option<EarlyCancel> {
        if self.done.contains(&early.key) {
            return None;
        }
        let kept = self.by_id.entry(early.request_id.clone()).or_default();
        let at = early.at;
        let known = kept.iter().position(|it| it.by == early.by);
        let known = known.unwrap_or_else(|| {
            kept.push(early);
            kept.len() - 1
        });
        kept[known].at = kept[known].at.max(at);
        let kept = kept[known].clone();
        // What another worker has kept may be older than the newest here.
        let place = self.order.partition_point(|(other, _)| *other <= at);
        self.order.insert(place, (at, kept.request_id.clone()));
        while self.order.len() > max {
            self.drop_oldest();
        }
        Some(kept)
    }

    /// Forgets what came before `since`.
    pub(super) fn expire(&mut self, since: u64) {
        while self.order.front().is_some_and(|(at, _)| *at < since) {
            self.drop_oldest();
        }
    }

    /// Takes out the cancel that a run being registered meets.
    pub(super) fn take(&mut self, run: &NewRun) -> Option<EarlyCancel> {
        if self.by_id.is_empty() {
            return None;
        }
        let of_dialect = run.dialect_id.as_deref();
        let taken = self
            .take_one(&run.id.to_string(), run)
            .or_else(|| self.take_one(of_dialect?, run))?;
        self.finish(taken.key);
        Some(taken)
    }

    /// It has met its run on another worker.
    pub(super) fn forget(&mut self, early: &EarlyCancel) {
        self.finish(early.key);
        if let Some(kept) = self.by_id.get_mut(&early.request_id) {
            kept.retain(|it| it.by != early.by);
            if kept.is_empty() {
                self.by_id.remove(&early.request_id);
            }
        }
    }

    /// All that are kept and came at `since` or later.
    pub(super) fn list(&self, since: u64) -> Vec<EarlyCancel> {
        let all = self.by_id.values().flatten();
        let mut all: Vec<_> = all.filter(|it| it.at >= since).cloned().collect();
        all.sort_unstable_by_key(|it| it.at);
        all
    }

    fn finish(&mut self, key: Uuid) {
        self.done.push_back(key);
        if self.done.len() > DONE {
            self.done.pop_front();
        }
    }

    fn take_one(&mut self, id: &str, run: &NewRun) -> Option<EarlyCancel> {
        let kept = self.by_id.get_mut(id)?;
        let allowed = |early: &EarlyCancel| early.by.may_see(&run.owner, run.app.as_deref());
        let at = kept.iter().position(allowed)?;
        let early = kept.swap_remove(at);
        if kept.is_empty() {
            self.by_id.remove(id);
        }
        Some(early)
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
