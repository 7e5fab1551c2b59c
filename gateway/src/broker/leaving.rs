//! Agents that have left while the app was working on their calls. The broker asks the app to cancel these
//! calls, and the app has the confirm timeout to say how they ended. Only then does the broker tell the app
//! that the agent is gone.

use super::answers::Loss;
use super::call::{UNCONFIRMED, unanswered};
use super::{Backlog, Broker, PeerId, Seat};
use crate::broker::calls::{Asker, Lost, RunId};

/// How many calls of agents that have left one app are waited for.
const WAITED_FOR: usize = 1_024;
/// The reason of these cancels.
const REASON: &str = "The caller has gone away";

impl Broker {
    /// The calls of a leaving agent whose ends are waited for, in order.
    pub(super) fn waited_for(&self, peer: PeerId) -> Vec<RunId> {
        let agent = self.sessions.get(&peer);
        // Sessions of the gateway itself wait for their calls before they leave.
        let agent = agent.filter(|agent| agent.profile.seat == Seat::Connected);
        let app = agent.and_then(|agent| self.apps.get(&agent.app?));
        let app = app.filter(|app| app.backlog == Backlog::Short);
        let (Some(agent), Some(app)) = (agent, app) else {
            return Vec::new();
        };
        let is_open = |run: &RunId| self.calls.get(*run).is_some_and(|it| !it.state.is_over());
        let mut calls: Vec<_> = agent.pending.calls().collect();
        calls.retain(|(_, run)| is_open(run));
        if calls.is_empty() {
            return Vec::new();
        }
        calls.sort_unstable();
        let left = app.agents.values().filter_map(|it| self.sessions.get(it));
        let left = left.filter(|agent| agent.left);
        let others: usize = left.map(|agent| agent.pending.calls().count()).sum();
        // Without room for all of them, the app is told at once that the agent is gone, and cancels all of
        // its calls.
        match others + calls.len() <= WAITED_FOR {
            true => calls.into_iter().map(|(_, run)| run).collect(),
            false => Vec::new(),
        }
    }

    /// Asks the app of an agent that has left to cancel the agent's calls, and waits.
    pub(super) fn stay(&mut self, peer: PeerId, calls: Vec<RunId>) {
        let Some(agent) = self.sessions.get_mut(&peer) else {
            return;
        };
        agent.left = true;
        agent.questions.clear();
        agent.pending.leave();
        self.wait_for(peer, Some(self.grace()));
        for run in calls {
            self.calls.change(run, |call| {
                if let Some(cancel) = &mut call.cancel {
                    cancel.askers.retain(|it| !matches!(it, Asker::Agent(_)));
                }
            });
            self.cancel(run, Asker::Gateway, Some(REASON));
        }
    }

    /// Stops waiting for an agent that has left: all is known, or the time is over.
    pub(super) fn leave(&mut self, peer: PeerId) {
        let loss = Loss {
            reason: UNCONFIRMED,
            who: Some(Lost::Agent),
        };
        self.forget_agent(peer, loss, &unanswered());
    }
}
