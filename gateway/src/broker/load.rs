//! What the agents of an app have it work on, by their owners: one of them alone must not fill the
//! queue to the app for all.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Bytes of the requests that an app has not answered yet, by the names of their owners.
#[derive(Debug, Default)]
pub(super) struct Load(FxHashMap<Arc<str>, usize>);

impl Load {
    pub(super) fn add(&mut self, owner: &Arc<str>, bytes: usize) {
        match self.0.get_mut(owner) {
            Some(sum) => *sum += bytes,
            None => {
                self.0.insert(owner.clone(), bytes);
            }
        }
    }

    pub(super) fn give_back(&mut self, owner: &Arc<str>, bytes: usize) {
        let Some(sum) = self.0.get_mut(owner) else {
            return;
        };
        *sum = sum.saturating_sub(bytes);
        if *sum == 0 {
            self.0.remove(owner);
        }
    }

    /// Whether `owner` may send so many bytes more while much waits for the app already: others have
    /// brought that about, and with this it stays below its own share of `room`.
    pub(super) fn has_room(&self, owner: &Arc<str>, bytes: usize, room: usize) -> bool {
        let own = self.0.get(owner);
        let owners = self.0.len() + usize::from(own.is_none());
        owners > 1 && own.unwrap_or(&0) + bytes <= room / owners
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_a_share_and_none_has_one_alone() {
        let [a, b, c] = ["a", "b", "c"].map(Arc::from);
        let mut load = Load::default();
        assert!(!load.has_room(&a, 1, 100), "nobody else has filled it");
        load.add(&a, 60);
        load.add(&a, 30);
        assert!(!load.has_room(&a, 1, 100), "it has filled it itself");
        assert!(load.has_room(&b, 50, 100));
        assert!(!load.has_room(&b, 51, 100));
        load.add(&b, 10);
        assert!(load.has_room(&b, 40, 100));
        assert!(load.has_room(&c, 33, 100));
        assert!(!load.has_room(&c, 34, 100));
        load.give_back(&a, 90);
        load.give_back(&a, 1);
        assert!(!load.has_room(&b, 1, 100), "it is alone");
    }
}
