//! How the last calls ended. The size of this memory does not depend on the length of callIds.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};

use super::id::Digest;
use super::{CallKey, End, LateEnd, Stop, StoppedBy};

/// Digests of callIds, in the order in which they came. A call takes at most 60 bytes, and the
/// memory grows with the number of calls.
///
/// Two ids with the same digest would be mixed up. Within one session of 10 000 remembered calls
/// the chance of that is less than one in 10^10.
#[derive(Debug)]
pub(super) struct Recent {
    capacity: usize,
    ended: FxHashSet<Entry>,
    /// Oldest first.
    order: VecDeque<Entry>,
    /// Facts that only some calls have, by digest.
    more: FxHashMap<u64, Box<More>>,
    /// The digests of the calls whose requests were given up, by those requests.
    given_up: FxHashMap<CallKey, u64>,
}

#[derive(Debug, Default)]
struct More {
    /// How the handler of an abandoned call has ended since.
    late: Option<LateEnd>,
    /// What has stopped the call.
    by: Option<StoppedBy>,
    /// The requests about a call with an unknown outcome that an agent has given up: the first, which
    /// is the call itself or a cancel, and the last cancels.
    given_up: Vec<CallKey>,
}

/// How many requests about one call are remembered. Some apps never answer a cancel.
const GIVEN_UP: usize = 8;

/// A digest whose lowest bits say how the call ended. Entries with the same digest are equal.
#[derive(Clone, Copy, Debug)]
struct Entry(u64);

/// The bits of an entry that say how the call ended.
const END: u64 = 15;

impl Entry {
    fn digest(self) -> u64 {
        self.0 & !END
    }

    fn end(self) -> End {
        match self.0 & END {
            0 => End::Completed,
            1 => End::Unknown,
            2 => End::Undecided,
            bits => End::Cancelled(Stop::ALL[bits as usize - 3]),
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for Entry {}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest());
    }
}

impl Recent {
    pub fn new(capacity: usize) -> Self {
        Recent {
            capacity,
            ended: FxHashSet::default(),
            order: VecDeque::new(),
            more: FxHashMap::default(),
            given_up: FxHashMap::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.ended.len()
    }

    /// How the call with that id ended.
    pub fn get(&self, id: &(impl Digest + ?Sized)) -> Option<End> {
        let entry = self.ended.get(&Entry(id.digest() & !END))?;
        Some(entry.end())
    }

    /// How the handler of an abandoned call has ended since.
    pub fn late(&self, id: &(impl Digest + ?Sized)) -> Option<LateEnd> {
        self.more.get(&(id.digest() & !END))?.late
    }

    /// What has stopped a call, if that is known.
    pub fn by(&self, id: &(impl Digest + ?Sized)) -> Option<StoppedBy> {
        self.more.get(&(id.digest() & !END))?.by
    }

    /// Remembers what has stopped a cancelled call.
    pub fn stopped_by(&mut self, id: &(impl Digest + ?Sized), by: StoppedBy) {
        if matches!(self.get(id), Some(End::Cancelled(_))) {
            self.more.entry(id.digest() & !END).or_default().by = Some(by);
        }
    }

    /// Remembers how the handler of an abandoned call ended.
    pub fn ended_late(&mut self, id: &(impl Digest + ?Sized), end: LateEnd) {
        if self.get(id) == Some(End::Cancelled(Stop::Abandoned)) {
            let more = self.more.entry(id.digest() & !END).or_default();
            more.late.get_or_insert(end);
        }
    }

    /// Remembers a request of an agent about a call with an unknown outcome.
    pub fn give_up(&mut self, id: &(impl Digest + ?Sized), key: CallKey) {
        if self.is_open(id) {
            let digest = id.digest() & !END;
            let keys = &mut self.more.entry(digest).or_default().given_up;
            if keys.len() == GIVEN_UP {
                self.given_up.remove(&keys.remove(1));
            }
            keys.push(key);
            self.given_up.insert(key, digest);
        }
    }

    /// The digest of the call whose request `key` was given up.
    pub fn given_up(&self, key: CallKey) -> Option<u64> {
        self.given_up.get(&key).copied()
    }

    fn forget_more(&mut self, digest: u64) {
        for key in self
            .more
            .remove(&digest)
            .into_iter()
            .flat_map(|it| it.given_up)
        {
            self.given_up.remove(&key);
        }
    }

    /// Whether the request `key` was given up, and is about another call than `id`.
    pub fn is_given_up_for_another(&self, key: CallKey, id: &(impl Digest + ?Sized)) -> bool {
        let known = self.given_up(key);
        known.is_some_and(|known| known != id.digest() & !END)
    }

    /// The end of a call with an unknown outcome has become known.
    pub fn decide(&mut self, id: &(impl Digest + ?Sized), end: End) {
        if self.is_open(id) {
            self.insert(id, end);
        }
    }

    fn is_open(&self, id: &(impl Digest + ?Sized)) -> bool {
        matches!(self.get(id), Some(End::Unknown | End::Undecided))
    }

    /// Remembers how a call ended. A later end under the same id replaces an earlier one.
    pub fn insert(&mut self, id: &(impl Digest + ?Sized), end: End) {
        if self.capacity == 0 {
            return;
        }
        let entry = Entry((id.digest() & !END) | bits_of(end));
        if self.ended.replace(entry).is_some() {
            self.forget_more(entry.digest());
            return;
        }
        self.order.push_back(entry);
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
            self.forget_more(oldest.digest());
        }
    }

    /// Frees memory, for when few calls will follow.
    pub fn shrink(&mut self) {
        self.ended.shrink_to_fit();
        self.order.shrink_to_fit();
        self.more.shrink_to_fit();
        self.given_up.shrink_to_fit();
    }
}

fn bits_of(end: End) -> u64 {
    match end {
        End::Completed => 0,
        End::Unknown => 1,
        End::Undecided => 2,
        End::Cancelled(stop) => 3 + stop as u64,
    }
}

#[cfg(test)]
mod tests;
