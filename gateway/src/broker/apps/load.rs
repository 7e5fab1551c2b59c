//! The work that an app's agents have given to it, by owner. One owner alone must not fill the queue to the
//! app for all.

use std::sync::Arc;

use crate::bounds::Tally;

/// Bytes of the requests that an app has not answered, by the names of their owners.
#[derive(Debug, Default)]
pub(in crate::broker) struct Load {
    owners: Tally<Arc<str>, usize>,
    /// Bytes in the queue whose agents are gone.
    left: Tally<Arc<str>, usize>,
}

impl Load {
    pub(in crate::broker) fn add(&mut self, owner: &Arc<str>, bytes: usize) {
        self.owners.change(owner, |sum| *sum += bytes);
    }

    /// The unanswered bytes of `owner`.
    pub(in crate::broker) fn of(&self, owner: &Arc<str>) -> usize {
        self.owners.of(owner)
    }

    pub(in crate::broker) fn give_back(&mut self, owner: &Arc<str>, bytes: usize) {
        self.owners
            .change(owner, |sum| *sum = sum.saturating_sub(bytes));
    }

    /// An agent of `owner` is gone while its requests still wait to be written. These bytes count until
    /// [`Load::forget_left`].
    pub(in crate::broker) fn leave(&mut self, owner: &Arc<str>, bytes: usize) {
        self.left.change(owner, |sum| *sum += bytes);
    }

    /// The queue is nearly empty: bytes of agents that are gone count no longer.
    pub(in crate::broker) fn forget_left(&mut self) {
        for (owner, bytes) in self.left.take() {
            self.give_back(&owner, bytes);
        }
    }

    /// Whether `owner` may send this many more bytes while much already waits for the app: others have caused
    /// the queue, and `owner` stays within its own share of `room`.
    pub(in crate::broker) fn has_room(&self, owner: &Arc<str>, bytes: usize, room: usize) -> bool {
        let own = self.of(owner);
        let owners = self.owners.len() + usize::from(own == 0);
        owners > 1 && own + bytes <= room / owners
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

    #[test]
    fn an_owner_that_leaves_and_comes_back_keeps_its_old_share() {
        let [a, b] = ["a", "b"].map(Arc::from);
        let mut load = Load::default();
        load.add(&b, 10);
        load.add(&a, 50);
        load.leave(&a, 50);
        assert!(!load.has_room(&a, 1, 100), "what it has sent still waits");
        load.forget_left();
        assert!(load.has_room(&a, 50, 100));
    }
}
