//! The slots of one capability, and the calls that wait for a slot.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::CallKey;

/// First come, first served, over a fixed number of slots.
#[derive(Debug, Default)]
pub struct Queue {
    limit: Option<usize>,
    /// Who holds a slot. Empty where there is no limit.
    holders: FxHashSet<CallKey>,
    /// The calls in line, and some that wait no longer: they are skipped when their turn comes.
    waiting: VecDeque<CallKey>,
    stale: usize,
}

impl Queue {
    /// `limit` is how many calls may run at once; `None` for any number.
    pub fn new(limit: Option<usize>) -> Self {
        Queue {
            limit,
            ..Queue::default()
        }
    }

    /// Gives `key` a slot, or puts the call in line. True when it got the slot.
    pub fn enter(&mut self, key: CallKey) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let free = self.holders.len() < limit && self.waiting.len() == self.stale;
        if free {
            self.holders.insert(key);
        } else {
            self.waiting.push_back(key);
        }
        free
    }

    /// Who holds a slot. Empty where there is no limit.
    pub fn holders(&self) -> &FxHashSet<CallKey> {
        &self.holders
    }

    /// Gives the slot of `key` back. The first call in line, if any, gets the slot and is returned.
    /// `waits` says which calls still wait.
    pub fn leave(&mut self, key: CallKey, waits: impl Fn(CallKey) -> bool) -> Option<CallKey> {
        if !self.holders.remove(&key) {
            return None;
        }
        let mut next = self.waiting.pop_front();
        while next.is_some_and(|next| !waits(next)) {
            self.stale = self.stale.saturating_sub(1);
            next = self.waiting.pop_front();
        }
        self.holders.extend(next);
        next
    }

    /// Notes that one call waits no longer. Once such calls outnumber the others, they are removed.
    pub fn abandon(&mut self, waits: impl Fn(CallKey) -> bool) {
        self.stale += 1;
        if self.stale * 2 > self.waiting.len() {
            self.waiting.retain(|key| waits(*key));
            self.stale = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::growth::assert_linear;

    #[test]
    fn serves_in_order_and_skips_the_abandoned() {
        let mut queue = Queue::new(Some(1));
        assert!(queue.enter(1));
        assert!(!queue.enter(2));
        assert!(!queue.enter(3));
        queue.abandon(|key| key != 2);
        assert_eq!(queue.leave(1, |key| key != 2), Some(3));
        assert_eq!(queue.leave(3, |_| true), None);
        assert!(queue.enter(4));
    }

    #[test]
    fn the_abandoned_do_not_pile_up() {
        let mut queue = Queue::new(Some(1));
        queue.enter(0);
        for key in 1..10_000 {
            queue.enter(key);
            queue.abandon(|it| it > key);
            assert!(queue.waiting.len() < 2);
        }
        for key in 10_000..10_100 {
            queue.enter(key);
        }
        // Newest first, but for the last ten.
        for key in (10_010..10_100).rev() {
            queue.abandon(|it| it < key);
        }
        assert!(queue.waiting.len() <= 20);
        assert_eq!(queue.leave(0, |it| it < 10_010), Some(10_000));
    }

    #[test]
    fn many_holders_that_leave_newest_first() {
        assert_linear(|many| {
            let mut queue = Queue::new(Some(many));
            for key in 0..many as CallKey {
                assert!(queue.enter(key));
            }
            for key in (0..many as CallKey).rev() {
                assert_eq!(queue.leave(key, |_| true), None);
            }
            assert!(queue.holders().is_empty());
        });
    }

    #[test]
    fn the_abandoned_stay_while_they_are_half_of_the_line() {
        let mut queue = Queue::new(Some(1));
        for key in 0..3 {
            queue.enter(key);
        }
        queue.abandon(|it| it != 1);
        assert_eq!(queue.waiting.len(), 2);
        queue.abandon(|_| false);
        assert_eq!(queue.waiting.len(), 0);
    }
}
