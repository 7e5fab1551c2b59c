//! The runs in flight, by owner. Each owner may have thousands.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Run, RunId};

/// All runs in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(FxHashMap<Arc<str>, OfOwner>);

/// The runs in flight of one owner.
#[derive(Debug, Default)]
struct OfOwner {
    /// In the order of registration.
    runs: BTreeMap<u64, RunId>,
    /// Bytes of their reasons and progress.
    bytes: usize,
}

impl InFlight {
    pub fn add(&mut self, run: &Run) {
        let owner = &run.owner.name;
        let own = match self.0.get_mut(owner) {
            Some(own) => own,
            None => self.0.entry(owner.clone()).or_default(),
        };
        own.runs.insert(run.sequence, run.id);
    }

    /// Removes a run that is about to end.
    pub fn remove(&mut self, run: &Run) {
        let Some(own) = self.0.get_mut(&run.owner.name) else {
            return;
        };
        own.runs.remove(&run.sequence);
        own.bytes = own.bytes.saturating_sub(run.long_bytes());
        if own.runs.is_empty() {
            self.0.remove(&run.owner.name);
        }
    }

    /// Whether there is room for this many more bytes of `owner`.
    pub fn has_room(&self, owner: &Arc<str>, bytes: usize, max: usize) -> bool {
        self.0.get(owner).map_or(0, |own| own.bytes) + bytes <= max
    }

    /// Notes that `owner` now has `bytes` in place of `before`.
    pub fn change(&mut self, owner: &Arc<str>, before: usize, bytes: usize) {
        if let Some(own) = self.0.get_mut(owner) {
            own.bytes = (own.bytes + bytes).saturating_sub(before);
        }
    }

    /// The newest `most` runs of each owner, or of one owner. Also returns how many are left out.
    pub fn newest(&self, owner: Option<&str>, most: usize) -> (Vec<RunId>, usize) {
        let (mut newest, mut left) = (Vec::new(), 0);
        for (_, own) in self
            .0
            .iter()
            .filter(|(it, _)| owner.is_none_or(|owner| *owner == ***it))
        {
            newest.extend(own.runs.values().rev().take(most));
            left += own.runs.len().saturating_sub(most);
        }
        (newest, left)
    }
}
