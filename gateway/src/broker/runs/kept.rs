//! How much is kept of what others write, and of runs that have ended: each owner has room of its own
//! there, so that nobody's calls have those of others forgotten.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::RunId;
use crate::wire::clipped;

/// Characters of an id that anybody may ask for, of a name and of an error code, 256: as many as a
/// JSON-RPC id may have bytes.
pub const ID_CHARS: usize = 256;
/// Characters of a reason, 4 096.
pub const REASON_CHARS: usize = 4_096;
/// Bytes of a `ProgressInfo`, 8 KiB.
const PROGRESS_BYTES: usize = 8 << 10;

/// Of all owners together there are at most so many times as many as of one.
const OWNERS: usize = 10;

/// The beginning of an error code.
pub(super) fn code(text: String) -> String {
    match is_long(&text, ID_CHARS) {
        true => clipped(&text, ID_CHARS).into(),
        false => text,
    }
}

/// An id, unless it is longer than anybody may ask for.
pub(super) fn id(text: Arc<str>) -> Option<Arc<str>> {
    (!is_long(&text, ID_CHARS)).then_some(text)
}

/// The beginning of a name, or of an id that is only shown.
pub(in crate::broker) fn name(text: Arc<str>) -> Arc<str> {
    match is_long(&text, ID_CHARS) {
        true => clipped(&text, ID_CHARS).into(),
        false => text,
    }
}

/// The beginning of a reason.
pub(super) fn reason(text: &str) -> String {
    clipped(text, REASON_CHARS).into()
}

/// A `ProgressInfo`, unless it is too large.
pub(super) fn progress(info: &str) -> Option<Box<RawValue>> {
    let small = (info.len() <= PROGRESS_BYTES).then_some(info)?;
    RawValue::from_string(small.into()).ok()
}

fn is_long(text: &str, characters: usize) -> bool {
    text.len() > characters && clipped(text, characters).len() < text.len()
}

/// The runs that have ended, by the names of their owners, those that ended first in front.
#[derive(Debug, Default)]
pub(super) struct EndedRuns {
    by_owner: FxHashMap<Arc<str>, VecDeque<(u64, RunId)>>,
    count: usize,
    /// None has ended before that.
    since: u64,
}

impl EndedRuns {
    /// One has ended, at that time in Unix milliseconds, and of each owner there are to be at most
    /// `max`: the one to be forgotten for that.
    pub fn add(&mut self, owner: &Arc<str>, at: u64, id: RunId, max: usize) -> Option<RunId> {
        let runs = match self.by_owner.get_mut(owner) {
            Some(runs) => runs,
            None => self.by_owner.entry(owner.clone()).or_default(),
        };
        // Those of a worker that is gone are older than others here.
        let place = match runs.back() {
            Some((last, _)) if *last > at => runs.partition_point(|(other, _)| *other <= at),
            _ => runs.len(),
        };
        runs.insert(place, (at, id));
        self.count += 1;
        self.since = self.since.min(at);
        if runs.len() > max {
            return self.pop(&owner.clone());
        }
        if self.count > max.saturating_mul(OWNERS) {
            let longest = self.by_owner.iter().max_by_key(|(_, runs)| runs.len());
            let owner = longest.map(|(owner, _)| owner.clone())?;
            return self.pop(&owner);
        }
        None
    }

    /// Takes out one that ended before `since`.
    pub fn pop_before(&mut self, since: u64) -> Option<RunId> {
        if self.since >= since {
            return None;
        }
        let firsts = self.by_owner.iter();
        let firsts = firsts.filter_map(|(owner, runs)| Some((runs.front()?.0, owner)));
        let (first, owner) = firsts.min()?;
        self.since = first;
        let owner = (first < since).then(|| owner.clone())?;
        self.pop(&owner)
    }

    fn pop(&mut self, owner: &Arc<str>) -> Option<RunId> {
        let runs = self.by_owner.get_mut(owner)?;
        let (_, id) = runs.pop_front()?;
        self.count -= 1;
        if runs.is_empty() {
            self.by_owner.remove(owner);
        }
        Some(id)
    }
}
