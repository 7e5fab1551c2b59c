//! How much is kept of other people's texts, and of ended runs. Each owner has room of its own, so that
//! nobody's calls push out those of others.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::RunId;
use crate::limits::Retention;
use crate::wire::clipped;

/// Characters of an id, a name or an error code. A JSON-RPC id may have as many bytes.
pub const ID_CHARS: usize = 256;
/// Characters of a reason.
pub const REASON_CHARS: usize = 4_096;
/// Bytes of a `ProgressInfo`.
pub const PROGRESS_BYTES: usize = 8 << 10;

/// All owners together may have this many times the bound of one owner.
const OWNERS: usize = 10;

/// The beginning of an error code.
pub(super) fn code(text: String) -> String {
    match is_long(&text, ID_CHARS) {
        true => clipped(&text, ID_CHARS).into(),
        false => text,
    }
}

/// An id, unless it is longer than any id that may be asked for.
pub(super) fn id(text: Arc<str>) -> Option<Arc<str>> {
    (!is_long(&text, ID_CHARS)).then_some(text)
}

/// The beginning of a name, or of an id that is only displayed.
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

/// The ended runs, by the names of their owners.
#[derive(Debug, Default)]
pub(super) struct EndedRuns {
    by_owner: FxHashMap<Arc<str>, OfOwner>,
    count: usize,
    bytes: usize,
    /// Every kept run ended at this time or later.
    since: u64,
}

/// The ended runs of one owner.
#[derive(Debug, Default)]
struct OfOwner {
    /// The end and the size of each run, in the order of their ends.
    runs: VecDeque<(u64, RunId, usize)>,
    bytes: usize,
}

impl EndedRuns {
    /// How many runs there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds an ended run, with its end in Unix milliseconds and its size in bytes.
    pub fn add(&mut self, owner: &Arc<str>, at: u64, (id, bytes): (RunId, usize)) {
        let of_owner = match self.by_owner.get_mut(owner) {
            Some(of_owner) => of_owner,
            None => self.by_owner.entry(owner.clone()).or_default(),
        };
        let runs = &mut of_owner.runs;
        // The clock may have gone back.
        let place = match runs.back() {
            Some((last, ..)) if *last > at => runs.partition_point(|(other, ..)| *other <= at),
            _ => runs.len(),
        };
        runs.insert(place, (at, id, bytes));
        of_owner.bytes += bytes;
        self.count += 1;
        self.bytes += bytes;
        self.since = self.since.min(at);
    }

    /// Removes and returns one run over a bound, after a run of `owner` was added. Each owner has bounds for
    /// runs and bytes, and all owners together have ten times as much.
    pub fn surplus(&mut self, owner: &Arc<str>, bounds: &Retention) -> Option<RunId> {
        let Retention { count, bytes, .. } = *bounds;
        let own = self.by_owner.get(owner);
        // The last run stays, however large.
        if own.is_some_and(|own| own.runs.len() > count || own.bytes > bytes && own.runs.len() > 1)
        {
            return self.pop(&owner.clone());
        }
        let most = |of: fn(&OfOwner) -> usize| {
            let most = self.by_owner.iter().max_by_key(|(_, it)| of(it));
            most.map(|(owner, _)| owner.clone())
        };
        let owner = if self.count > count.saturating_mul(OWNERS) {
            most(|it| it.runs.len())
        } else if self.bytes > bytes.saturating_mul(OWNERS) && self.count > 1 {
            most(|it| it.bytes)
        } else {
            None
        };
        self.pop(&owner?)
    }

    /// The last `most` runs that ended at `since` or later, for each owner or for one. Also returns how many
    /// are left out.
    pub fn newest(&self, owner: Option<&str>, most: usize, since: u64) -> (Vec<RunId>, usize) {
        let (mut newest, mut left) = (Vec::new(), 0);
        let is_meant = |name: &str| owner.is_none_or(|owner| owner == name);
        for (_, own) in self.by_owner.iter().filter(|(name, _)| is_meant(name)) {
            let old = own.runs.partition_point(|(at, ..)| *at < since);
            let fresh = own.runs.len() - old;
            let last = own.runs.iter().rev().take(fresh.min(most));
            newest.extend(last.map(|(_, id, _)| *id));
            left += fresh.saturating_sub(most);
        }
        (newest, left)
    }

    /// Removes and returns a run that ended before `since`.
    pub fn pop_before(&mut self, since: u64) -> Option<RunId> {
        if self.since >= since {
            return None;
        }
        let firsts = self.by_owner.iter();
        let firsts = firsts.filter_map(|(owner, it)| Some((it.runs.front()?.0, owner)));
        let (first, owner) = firsts.min()?;
        self.since = first;
        let owner = (first < since).then(|| owner.clone())?;
        self.pop(&owner)
    }

    fn pop(&mut self, owner: &Arc<str>) -> Option<RunId> {
        let of_owner = self.by_owner.get_mut(owner)?;
        let (_, id, bytes) = of_owner.runs.pop_front()?;
        of_owner.bytes -= bytes;
        self.count -= 1;
        self.bytes -= bytes;
        if of_owner.runs.is_empty() {
            self.by_owner.remove(owner);
        }
        Some(id)
    }
}
