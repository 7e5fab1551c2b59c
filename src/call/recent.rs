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
    more: FxHashMap<u64, More>,
}

#[derive(Clone, Copy, Debug, Default)]
struct More {
    /// How the handler of an abandoned call has ended since.
    late: Option<LateEnd>,
    /// What has stopped the call.
    by: Option<StoppedBy>,
    /// The requests about a call with an unknown outcome that an agent has given up: the call
    /// itself and its last cancel. 0 for none.
    given_up: [CallKey; 2],
}

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
    pub fn give_up(&mut self, id: &(impl Digest + ?Sized), key: CallKey, cancel: bool) {
        if self.is_open(id) {
            let more = self.more.entry(id.digest() & !END).or_default();
            more.given_up[usize::from(cancel)] = key;
        }
    }

    /// The digest of the call whose request `key` was given up.
    pub fn given_up(&self, key: CallKey) -> Option<u64> {
        let mut all = self.more.iter();
        let found = all.find(|(_, more)| key != 0 && more.given_up.contains(&key));
        found.map(|(digest, _)| *digest)
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
            self.more.remove(&entry.digest());
            return;
        }
        self.order.push_back(entry);
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
            self.more.remove(&oldest.digest());
        }
    }

    /// Frees memory, for when few calls will follow.
    pub fn shrink(&mut self) {
        self.ended.shrink_to_fit();
        self.order.shrink_to_fit();
        self.more.shrink_to_fit();
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
mod tests {
    use super::*;

    fn recent(capacity: usize) -> Recent {
        Recent::new(capacity)
    }

    /// A lower estimate: a table has room for eight sevenths of its capacity, and a byte for each
    /// entry.
    fn bytes_held(recent: &Recent) -> usize {
        let table = (recent.ended.capacity() * 8 / 7).next_power_of_two();
        table * 9 + recent.order.capacity() * 8
    }

    const ENDS: [End; 8] = [
        End::Completed,
        End::Unknown,
        End::Undecided,
        End::Cancelled(Stop::NeverStarted),
        End::Cancelled(Stop::Dropped),
        End::Cancelled(Stop::Returned),
        End::Cancelled(Stop::Terminated),
        End::Cancelled(Stop::Abandoned),
    ];

    #[test]
    fn a_capacity_without_end_takes_what_it_holds() {
        let mut recent = self::recent(usize::MAX);
        for number in 0..20_000 {
            recent.insert(
                format!("call-{number}").as_str(),
                End::Cancelled(Stop::Dropped),
            );
        }
        assert_eq!(recent.len(), 20_000);
        assert!(
            (0..20_000).all(|it| recent.get(format!("call-{it}").as_str())
                == Some(End::Cancelled(Stop::Dropped)))
        );
    }

    #[test]
    fn a_remembered_call_takes_at_most_60_bytes() {
        for capacity in [100, 1_000, 10_000] {
            let mut recent = self::recent(capacity);
            for number in 1..=4 * capacity {
                recent.insert(
                    format!("call-{number}").as_str(),
                    End::Cancelled(Stop::Dropped),
                );
                let held = bytes_held(&recent);
                // The smallest tables are a little roomier.
                assert!(held <= 60 * recent.len().max(16), "{number}: {held} B");
            }
        }
    }

    #[test]
    fn lets_go_of_the_room_for_more() {
        let mut recent = self::recent(10_000);
        for number in 0..80 {
            recent.insert(
                format!("call-{number}").as_str(),
                End::Cancelled(Stop::Dropped),
            );
        }
        recent.shrink();
        assert_eq!(
            (recent.ended.capacity(), recent.order.capacity()),
            (112, 80)
        );
        assert!(
            (0..80).all(|it| recent.get(format!("call-{it}").as_str())
                == Some(End::Cancelled(Stop::Dropped)))
        );
        recent.insert("one more", End::Completed);
        assert_eq!(recent.get("one more"), Some(End::Completed));
    }

    #[test]
    fn remembers_exactly_the_last_ones() {
        for capacity in [0, 1, 2, 63, 64, 65, 100, 1_000] {
            let mut recent = self::recent(capacity);
            let mut model: VecDeque<(String, End)> = VecDeque::new();
            for number in 0..3_000_usize {
                // From time to time a remembered id ends again.
                let id = format!("call-{}", if number % 7 == 0 { number / 2 } else { number });
                let end = ENDS[number % ENDS.len()];
                recent.insert(id.as_str(), end);
                match model.iter_mut().find(|(it, _)| *it == id) {
                    Some(entry) => entry.1 = end,
                    None => model.push_back((id, end)),
                }
                if model.len() > capacity {
                    model.pop_front();
                }
                if number % 311 == 0 {
                    recent.shrink();
                }
                if number % 97 == 0 {
                    for (id, end) in &model {
                        assert_eq!(
                            recent.get(id.as_str()),
                            Some(*end),
                            "{capacity} {number} {id}"
                        );
                    }
                }
                assert_eq!(recent.len(), model.len());
            }
            let known =
                (0..3_000).filter(|number| recent.get(format!("call-{number}").as_str()).is_some());
            assert_eq!(known.count(), model.len());
        }
    }
}
