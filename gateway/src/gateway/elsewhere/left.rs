//! Agents of other workers that have left apps here: their worker is still told how the work ends that
//! they have left behind.

use std::collections::VecDeque;

use super::Elsewhere;
use crate::broker::PeerId;
use crate::cluster::message::{AppKey, Message};

/// Agents that are remembered, of each worker.
const REMEMBERED: usize = 1_024;

/// An agent, by its app and its name there.
pub(super) type Key = (AppKey, String);

/// Those of one worker, as the broker here has known them.
#[derive(Debug, Default)]
pub(super) struct Left(VecDeque<(PeerId, Key)>);

impl Left {
    pub fn keep(&mut self, peer: PeerId, key: Key) {
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((peer, key));
    }

    fn get(&self, peer: PeerId) -> Option<&Key> {
        let found = self.0.iter().find(|(it, _)| *it == peer);
        found.map(|(_, key)| key)
    }
}

impl Elsewhere {
    /// An app here says something to an agent that has left it.
    pub(super) fn to_left(&self, agent: PeerId, text: String) {
        let others = self.others();
        let found = others.all.iter().find_map(|(worker, other)| {
            let key = other.left.get(agent)?;
            Some((*worker, key.clone()))
        });
        drop(others);
        if let Some((worker, (app, agent))) = found {
            self.send_text(worker, Message::ToAgent { app, agent }, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_have_left_are_remembered() {
        let mut left = Left::default();
        let numbers = 0..REMEMBERED as u64 + 1;
        for number in numbers {
            left.keep(PeerId(number), (number, number.to_string()));
        }
        assert_eq!(left.get(PeerId(0)), None);
        assert_eq!(left.get(PeerId(1)), Some(&(1, "1".to_string())));
        assert_eq!(left.0.len(), REMEMBERED);
    }
}
