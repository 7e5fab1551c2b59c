//! The slots of one capability, and the calls that wait for a slot.

use std::collections::VecDeque;

use super::CallKey;

/// First come, first served, over a fixed number of slots.
#[derive(Debug, Default)]
pub struct Queue {
    limit: Option<usize>,
    /// Who holds a slot. Empty where there is no limit.
    holders: Vec<CallKey>,
    waiting: VecDeque<CallKey>,
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
        let free = self.holders.len() < limit && self.waiting.is_empty();
        if free {
            self.holders.push(key);
        } else {
            self.waiting.push_back(key);
        }
        free
    }

    /// Who holds a slot. Empty where there is no limit.
    pub fn holders(&self) -> &[CallKey] {
        &self.holders
    }

    /// Gives the slot of `key` back. The first call in line, if any, gets the slot and is returned.
    pub fn leave(&mut self, key: CallKey) -> Option<CallKey> {
        let place = self.holders.iter().position(|it| *it == key)?;
        let next = self.waiting.pop_front();
        match next {
            Some(next) => self.holders[place] = next,
            None => {
                self.holders.swap_remove(place);
            }
        }
        next
    }

    /// Removes a waiting call from the line. False when the call does not wait.
    pub fn abandon(&mut self, key: CallKey) -> bool {
        let found = self.waiting.iter().position(|it| *it == key);
        found.and_then(|place| self.waiting.remove(place)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_in_order_and_skips_the_abandoned() {
        let mut queue = Queue::new(Some(1));
        assert!(queue.enter(1));
        assert!(!queue.enter(2));
        assert!(!queue.enter(3));
        assert!(queue.abandon(2));
        assert!(!queue.abandon(2));
        assert_eq!(queue.leave(1), Some(3));
        assert_eq!(queue.leave(3), None);
        assert!(queue.enter(4));
    }
}
