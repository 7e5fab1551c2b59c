//! The messages that wait to be written to one peer. The agents of an app take turns, so that nobody waits
//! behind everything that another agent has sent. The messages of one agent keep their order.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::wire::{Lane, Outgoing};

/// What a lane may send in each round. A lane with a larger message waits for as many rounds as the message
/// takes, and lanes with small messages go on meanwhile.
const QUANTUM: usize = 4 << 10;

/// A message that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub message: Outgoing,
    /// Whether the message is to be kept for another connection when it is written.
    pub is_kept: bool,
}

/// Messages by lane.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Messages of the connection itself. They come first, in their own order.
    ahead: VecDeque<Waiting>,
    lanes: FxHashMap<Lane, Waiters>,
    /// The lanes with messages, in the order of their turns.
    turns: VecDeque<Lane>,
}

/// The messages of one lane.
#[derive(Debug)]
struct Waiters {
    messages: VecDeque<Waiting>,
    /// How many bytes the lane may send in this round.
    credit: usize,
}

impl Lanes {
    /// Adds a message behind the others of its lane.
    pub fn push(&mut self, message: Outgoing, is_kept: bool) {
        let lane = message.lane();
        let waiting = Waiting { message, is_kept };
        let Some(lane) = lane else {
            return self.ahead.push_back(waiting);
        };
        let turns = &mut self.turns;
        let waiters = self.lanes.entry(lane).or_insert_with(|| {
            turns.push_back(lane);
            Waiters {
                messages: VecDeque::new(),
                credit: QUANTUM,
            }
        });
        waiters.messages.push_back(waiting);
    }

    /// Adds a message before the turns of all lanes, and behind the others that were added so.
    pub fn push_ahead(&mut self, message: Outgoing) {
        let is_kept = false;
        self.ahead.push_back(Waiting { message, is_kept });
    }

    /// Takes out the next message.
    pub fn pop(&mut self) -> Option<Waiting> {
        if let Some(first) = self.ahead.pop_front() {
            return Some(first);
        }
        loop {
            let lane = *self.turns.front()?;
            let is_alone = self.turns.len() == 1;
            let waiters = self.lanes.get_mut(&lane)?;
            let cost = waiters.messages.front()?.message.cost();
            if cost <= waiters.credit || is_alone {
                waiters.credit = waiters.credit.saturating_sub(cost);
                let next = waiters.messages.pop_front();
                if waiters.messages.is_empty() {
                    self.lanes.remove(&lane);
                    self.turns.pop_front();
                }
                return next;
            }
            waiters.credit += QUANTUM;
            self.turns.rotate_left(1);
        }
    }

    /// No waiting message is to be kept any more.
    pub fn keep_none(&mut self) {
        let laned = self.lanes.values_mut().flat_map(|it| &mut it.messages);
        for waiting in self.ahead.iter_mut().chain(laned) {
            waiting.is_kept = false;
        }
    }

    /// Takes out all messages, in the order in which they would be written.
    pub fn take(&mut self) -> impl Iterator<Item = Waiting> + use<> {
        let mut all = std::mem::take(self);
        std::iter::from_fn(move || all.pop())
    }
}

#[cfg(test)]
mod tests;
