//! Agents of other workers that have left apps here: their worker is still told how the work ends that
//! they have left behind.

use super::Elsewhere;
use crate::broker::PeerId;
use crate::cluster::message::{AppKey, Message};
use crate::remembered::Remembered;

/// Agents that are remembered, of each worker.
const REMEMBERED: usize = 1_024;

/// An agent, by its app and its name there.
pub(super) type Key = (AppKey, String);

/// Those of one worker, as the broker here has known them.
pub(super) type Left = Remembered<PeerId, Key, REMEMBERED>;

impl Elsewhere {
    /// An app here says something to an agent that has left it.
    pub(in crate::gateway) fn to_left(&self, agent: PeerId, text: String) {
        let others = self.others();
        let found = others.all.iter().find_map(|(worker, other)| {
            let key = other.left.get(&agent)?;
            Some((*worker, key.clone()))
        });
        drop(others);
        if let Some((worker, (app, agent))) = found {
            self.send_text(worker, Message::ToAgent { app, agent }, text);
        }
    }
}
