//! How much is kept of what is long in runs in flight: there may be thousands of each owner.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Bytes of reasons and progress of runs in flight, by the names of their owners.
#[derive(Debug, Default)]
pub(super) struct Texts(FxHashMap<Arc<str>, usize>);

impl Texts {
    /// Whether there is room for so many bytes more of `owner`.
    pub fn has_room(&self, owner: &Arc<str>, bytes: usize, max: usize) -> bool {
        self.0.get(owner).unwrap_or(&0) + bytes <= max
    }

    /// So many bytes are kept of `owner` that were `before`.
    pub fn change(&mut self, owner: &Arc<str>, before: usize, bytes: usize) {
        if before == bytes {
            return;
        }
        let sum = match self.0.get_mut(owner) {
            Some(sum) => sum,
            None => self.0.entry(owner.clone()).or_default(),
        };
        *sum = (*sum + bytes).saturating_sub(before);
        if *sum == 0 {
            self.0.remove(owner);
        }
    }
}
