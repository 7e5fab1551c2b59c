//! Which messages of a connection are only the beginning of what was sent.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

/// Messages that were cut, and that nobody has taken yet: most of the time there is none.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    many: AtomicUsize,
    /// Which one it is on its connection, and how many bytes were sent.
    all: Mutex<VecDeque<(u64, u64)>>,
}

impl Cuts {
    pub fn add(&self, cuts: impl IntoIterator<Item = (u64, u64)>) {
        let mut all = self.all.lock();
        all.extend(cuts);
        self.many.store(all.len(), Relaxed);
    }

    /// The bytes that were sent of that message, when this many have come.
    pub fn bytes(&self, number: u64, came: usize) -> usize {
        if self.many.load(Relaxed) == 0 {
            return came;
        }
        let mut all = self.all.lock();
        let bytes = match all.front() {
            Some((cut, bytes)) if *cut == number => *bytes as usize,
            _ => return came,
        };
        all.pop_front();
        self.many.store(all.len(), Relaxed);
        bytes
    }
}
