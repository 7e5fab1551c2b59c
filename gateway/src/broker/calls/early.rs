//! Early cancels: cancels of runs that are not registered yet, kept for a short time. Only ids that nobody
//! guesses by chance are kept: an id such as `2` is ambiguous.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::{Uuid, Variant};

use super::{Calls, NewRun};
use crate::remembered::Remembered;
use crate::tokens::Identity;

/// How many used cancels are remembered: another worker may tell of a cancel too late.
const DONE: usize = 1_024;

/// A cancel of a run that is yet to come.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct EarlyCancel {
    /// The name of the cancel, on all workers.
    pub key: Uuid,
    /// The id of the run in its dialect.
    pub request_id: String,
    /// The reason.
    pub reason: Option<String>,
    /// Who cancels.
    pub by: Identity,
    /// When the cancel came, in Unix milliseconds.
    pub at: u64,
}

impl EarlyCancel {
    /// A new cancel.
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

/// Whether nobody guesses the id by chance: it is a UUID made at random or of a clock and a machine (versions
/// 1, 4, 6 and 7). Anybody who knows a name can make the UUID of that name, and nil belongs to nobody. The
/// gateway's own ids of runs (version 8) are known to nobody before their runs are registered.
fn is_unique(request_id: &str) -> bool {
    Uuid::parse_str(request_id).is_ok_and(|id| {
        id.get_variant() == Variant::RFC4122 && matches!(id.get_version_num(), 1 | 4 | 6 | 7)
    })
}

impl Calls {
    /// Whether a cancel of that id is kept for a run that is yet to come.
    pub fn keeps_early(&self, request_id: &str) -> bool {
        !self.retention.early.is_zero() && is_unique(request_id)
    }

    /// Cancels a run that is yet to come. If a run of that id is registered within
    /// [`Retention::early`](super::Retention::early), and the requester may see it, that run is over at once.
    /// Returns the cancel as kept, unless it has already met its run. `None` if cancels of its id are not
    /// kept.
    pub fn cancel_early(&mut self, early: EarlyCancel, now: u64) -> Option<EarlyCancel> {
        self.expire(now);
        if !self.keeps_early(&early.request_id) {
            return None;
        }
        self.early.insert(early, self.retention.count)
    }

    /// An early cancel has met its run on another worker.
    pub fn forget_early(&mut self, early: &EarlyCancel) {
        self.early.forget(early);
    }

    /// All early cancels.
    pub fn early_cancels(&self, now: u64) -> Vec<EarlyCancel> {
        self.early.list(self.early_since(now))
    }
}

/// Early cancels, kept until their run comes or they are too old. When there are too many, the requester with
/// most loses its oldest. So nobody takes the place of others who have fewer.
#[derive(Debug, Default)]
pub(super) struct EarlyCancels {
    by_id: HashMap<String, Vec<Kept>>,
    /// The ids of each requester's cancels, in the order of arrival.
    by_owner: BTreeMap<Arc<str>, BTreeMap<Place, String>>,
    count: usize,
    counted: u64,
    done: Remembered<Uuid, (), DONE>,
}

/// The time of arrival, and a number that rises with each entry.
type Place = (u64, u64);

#[derive(Clone, Debug)]
struct Kept {
    early: EarlyCancel,
    number: u64,
}

impl Kept {
    fn place(&self) -> Place {
        (self.early.at, self.number)
    }
}

impl EarlyCancels {
    /// Keeps a cancel, at most `max` of them, unless it is used already. Returns the cancel as kept: a
    /// repeated cancel only renews the first.
    pub(super) fn insert(&mut self, mut early: EarlyCancel, max: usize) -> Option<EarlyCancel> {
        if self.done.get(&early.key).is_some() {
            return None;
        }
        if let Some(known) = self.remove(&early.request_id, |it| it.by == early.by) {
            let at = early.at.max(known.at);
            early = EarlyCancel { at, ..known };
        }
        self.counted += 1;
        let kept = Kept {
            early: early.clone(),
            number: self.counted,
        };
        let of_owner = self.by_owner.entry(early.by.name.clone()).or_default();
        of_owner.insert(kept.place(), early.request_id.clone());
        let of_id = self.by_id.entry(early.request_id.clone()).or_default();
        of_id.push(kept);
        self.count += 1;
        while self.count > max && self.drop_oldest() {}
        Some(early)
    }

    /// Forgets the cancels that came before `since`.
    pub(super) fn expire(&mut self, since: u64) {
        if self.count == 0 {
            return;
        }
        let of_all = self.by_owner.values();
        let old = of_all.flat_map(|it| it.range(..(since, 0)).map(|(_, id)| id.clone()));
        for id in old.collect::<Vec<_>>() {
            self.remove(&id, |it| it.at < since);
        }
    }

    /// Removes and returns the cancel that a new run meets.
    pub(super) fn take(&mut self, run: &NewRun) -> Option<EarlyCancel> {
        if self.count == 0 {
            return None;
        }
        let allowed = |it: &EarlyCancel| it.by.may_see(&run.owner, run.app.as_deref());
        let of_dialect = run.dialect_id.as_deref();
        let taken = self.remove(of_dialect?, allowed)?;
        self.done.insert(taken.key, ());
        Some(taken)
    }

    /// The cancel has met its run on another worker.
    pub(super) fn forget(&mut self, early: &EarlyCancel) {
        self.done.insert(early.key, ());
        self.remove(&early.request_id, |it| it.by == early.by);
    }

    /// The cancels that came at `since` or later.
    pub(super) fn list(&self, since: u64) -> Vec<EarlyCancel> {
        let all = self.by_id.values().flatten().map(|it| &it.early);
        let mut all: Vec<_> = all.filter(|it| it.at >= since).cloned().collect();
        all.sort_unstable_by_key(|it| it.at);
        all
    }

    /// Drops the oldest cancel. Returns whether there was any.
    fn drop_oldest(&mut self) -> bool {
        let most = self.by_owner.iter().max_by_key(|(_, it)| it.len());
        let oldest = most.and_then(|(name, it)| Some((name, it.first_key_value()?)));
        let Some((name, (&(at, _), id))) = oldest else {
            return false;
        };
        let (name, id) = (name.clone(), id.clone());
        let is_it = |it: &EarlyCancel| it.by.name == name && it.at == at;
        self.remove(&id, is_it).is_some()
    }

    /// Removes and returns the first cancel of an id for which `is_it` is true.
    fn remove(&mut self, id: &str, is_it: impl Fn(&EarlyCancel) -> bool) -> Option<EarlyCancel> {
        let kept = self.by_id.get_mut(id)?;
        let at = kept.iter().position(|it| is_it(&it.early))?;
        let taken = kept.swap_remove(at);
        if kept.is_empty() {
            self.by_id.remove(id);
        }
        let name = &taken.early.by.name;
        if let Some(of_owner) = self.by_owner.get_mut(name) {
            of_owner.remove(&taken.place());
            if of_owner.is_empty() {
                self.by_owner.remove(name);
            }
        }
        self.count -= 1;
        Some(taken.early)
    }
}

#[cfg(test)]
mod tests;
