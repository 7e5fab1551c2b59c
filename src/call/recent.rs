//! How the last calls ended, in memory whose size does not depend on what they were called.

use super::{End, LateEnd, Stop};

/// So many are remembered in little memory, before the full ring is laid out.
const FEW: usize = 64;

/// So many times more then. A capacity beyond that, even one without end, takes no memory before
/// there is something to remember.
const WIDER: usize = 256;

/// A ring of digests of callIds, and an index into it. Each call takes eight bytes in the ring and
/// about eight in the index; once more than a few have ended, all of it is laid out at once, so
/// that memory does not creep up with the calls of a session, unless very many are remembered.
///
/// Two ids of one digest would be taken for one another: of 10 000 remembered, with a chance of
/// less than one in 10^10, and only within a session.
#[derive(Debug)]
pub(super) struct Recent {
    capacity: usize,
    /// Digests, their lowest bits saying how the call ended.
    ring: Vec<u64>,
    /// Where the next digest goes; the oldest, once the ring is full.
    next: usize,
    len: usize,
    /// Positions in the ring plus one, by open addressing; 0 for none.
    index: Vec<u32>,
    /// How the handlers of abandoned calls have ended since, in the order of their digests.
    late: Vec<(u64, LateEnd)>,
}

/// The bits of an entry that say how the call ended.
const END: u64 = 15;

impl Recent {
    pub fn new(capacity: usize) -> Self {
        Recent {
            capacity,
            ring: Vec::new(),
            next: 0,
            len: 0,
            index: Vec::new(),
            late: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// How the call of that id ended.
    pub fn get(&self, id: &str) -> Option<End> {
        let slot = self.find(digest(id))?;
        Some(end_of(self.entry(slot)))
    }

    /// How the handler of an abandoned call has ended since.
    pub fn late(&self, id: &str) -> Option<LateEnd> {
        let place = self.place_of_late(digest(id)).ok()?;
        Some(self.late[place].1)
    }

    /// Remembers how the handler of a call ended that is remembered as abandoned.
    pub fn ended_late(&mut self, id: &str, end: LateEnd) {
        if self.get(id) == Some(End::Cancelled(Stop::Abandoned)) {
            let digest = digest(id);
            if let Err(place) = self.place_of_late(digest) {
                self.late.insert(place, (digest, end));
            }
        }
    }

    fn place_of_late(&self, digest: u64) -> Result<usize, usize> {
        self.late.binary_search_by(|(it, _)| it.cmp(&digest))
    }

    fn forget_late(&mut self, digest: u64) {
        if let Ok(place) = self.place_of_late(digest) {
            self.late.remove(place);
        }
    }

    /// Remembers how a call ended; of an id that is remembered already, the last end counts.
    pub fn insert(&mut self, id: &str, end: End) {
        let entry = digest(id) | bits_of(end);
        if self.capacity == 0 {
            return;
        }
        if let Some(slot) = self.find(entry & !END) {
            self.forget_late(entry & !END);
            let position = self.index[slot] as usize - 1;
            self.ring[position] = entry;
            return;
        }
        if self.len == self.ring.len() {
            if self.len < self.capacity {
                self.lay_out();
            } else {
                let oldest = self.ring[self.next] & !END;
                self.forget_late(oldest);
                let slot = self.find(oldest);
                if let Some(slot) = slot {
                    self.unlink(slot);
                }
                self.len -= 1;
            }
        }
        self.ring[self.next] = entry;
        self.link(self.next);
        self.len += 1;
        self.next = (self.next + 1) % self.ring.len();
    }

    /// A small ring first, then a wide one, which holds all of any ordinary capacity.
    fn lay_out(&mut self) {
        self.resize(self.capacity.min(FEW.max(self.ring.len() * WIDER)));
    }

    /// Lets go of the room for more, for when not many will follow.
    pub fn shrink(&mut self) {
        // Only a full ring does not begin with the oldest, and that one keeps its size.
        if self.len < self.ring.len() {
            self.resize(self.len);
            self.ring.shrink_to_fit();
        }
    }

    /// From or to a ring that is full, or begins with the oldest.
    fn resize(&mut self, size: usize) {
        self.ring.resize(size, 0);
        self.next = self.len % size.max(1);
        self.index = vec![0; (size + size / 4 + 1).next_power_of_two()];
        for position in 0..self.len {
            self.link(position);
        }
    }

    fn entry(&self, slot: usize) -> u64 {
        self.ring[self.index[slot] as usize - 1]
    }

    fn home(&self, entry: u64) -> usize {
        (entry >> 32) as usize & (self.index.len() - 1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.index.len() - 1)
    }

    /// The index slot of a digest.
    fn find(&self, digest: u64) -> Option<usize> {
        if self.index.is_empty() {
            return None;
        }
        let mut slot = self.home(digest);
        while self.index[slot] != 0 {
            if self.entry(slot) & !END == digest {
                return Some(slot);
            }
            slot = self.after(slot);
        }
        None
    }

    fn link(&mut self, position: usize) {
        let mut slot = self.home(self.ring[position]);
        while self.index[slot] != 0 {
            slot = self.after(slot);
        }
        self.index[slot] = position as u32 + 1;
    }

    /// Empties a slot, and moves up what had been pushed past it.
    fn unlink(&mut self, mut hole: usize) {
        let mask = self.index.len() - 1;
        let mut slot = hole;
        loop {
            slot = self.after(slot);
            if self.index[slot] == 0 {
                break;
            }
            let home = self.home(self.entry(slot));
            if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(hole) & mask {
                self.index[hole] = self.index[slot];
                hole = slot;
            }
        }
        self.index[hole] = 0;
    }
}

/// FNV-1a, stirred once more so that its high half is fit for the index.
fn digest(id: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash & !END
}

fn bits_of(end: End) -> u64 {
    match end {
        End::Completed => 0,
        End::Unknown => 1,
        End::Undecided => 2,
        End::Cancelled(stop) => 3 + stop as u64,
    }
}

fn end_of(entry: u64) -> End {
    match entry & END {
        0 => End::Completed,
        1 => End::Unknown,
        2 => End::Undecided,
        bits => End::Cancelled(Stop::ALL[bits as usize - 3]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

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
        let mut recent = Recent::new(usize::MAX);
        for number in 0..20_000 {
            recent.insert(&format!("call-{number}"), End::Cancelled(Stop::Dropped));
        }
        assert_eq!(recent.len(), 20_000);
        assert!(
            (0..20_000)
                .all(|it| recent.get(&format!("call-{it}")) == Some(End::Cancelled(Stop::Dropped)))
        );
    }

    #[test]
    fn takes_little_memory_when_no_more_is_expected() {
        let mut recent = Recent::new(10_000);
        recent.shrink();
        for number in 0..80 {
            recent.insert(&format!("call-{number}"), End::Cancelled(Stop::Dropped));
        }
        recent.shrink();
        assert_eq!((recent.ring.capacity(), recent.index.capacity()), (80, 128));
        assert!(
            (0..80)
                .all(|it| recent.get(&format!("call-{it}")) == Some(End::Cancelled(Stop::Dropped)))
        );
        recent.insert("one more", End::Completed);
        assert_eq!(recent.get("one more"), Some(End::Completed));
    }

    #[test]
    fn remembers_exactly_the_last_ones() {
        for capacity in [0, 1, 2, 63, 64, 65, 100, 1_000] {
            let mut recent = Recent::new(capacity);
            let mut model: VecDeque<(String, End)> = VecDeque::new();
            for number in 0..3_000_usize {
                // Every so often an id that is remembered ends again.
                let id = format!("call-{}", if number % 7 == 0 { number / 2 } else { number });
                let end = ENDS[number % ENDS.len()];
                recent.insert(&id, end);
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
                        assert_eq!(recent.get(id), Some(*end), "{capacity} {number} {id}");
                    }
                }
                assert_eq!(recent.len(), model.len());
            }
            let known = (0..3_000).filter(|number| recent.get(&format!("call-{number}")).is_some());
            assert_eq!(known.count(), model.len());
        }
    }
}
