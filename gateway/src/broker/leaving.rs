//! Agents that have left while the app had calls of theirs. The app is told to cancel these, and has the
//! confirm timeout to say how they ended: then only is it told that the agent is gone.

use super::answers::Loss;
use super::call::{UNCONFIRMED, unanswered};
use super::{Backlog, Broker, PeerId, Seat};
use crate::broker::runs::{Lost, RunId};

/// Calls of agents that have left one app whose ends are waited for, 1 024.
const WAITED_FOR: usize = 1_024;
/// Why they are cancelled.
const REASON: &str = "The caller has gone away";

impl Broker {
    /// The calls of an agent that leaves whose ends are waited for, in their order.
    pub(super) fn waited_for(&self, peer: PeerId) -> Vec<RunId> {
        let agent = self.agents.get(&peer);
        // Sessions of the gateway's own wait for their calls before they leave.
        let agent = agent.filter(|agent| agent.profile.seat == Seat::Connected);
        let app = agent.and_then(|agent| self.apps.get(&agent.app?));
        let app = app.filter(|app| app.backlog == Backlog::Short);
        let (Some(agent), Some(app)) = (agent, app) else {
            return Vec::new();
        };
        let is_open = |run: &RunId| self.runs.get(*run).is_some_and(|it| !it.state.is_over());
        let mut calls: Vec<_> = agent.pending.calls().collect();
        calls.retain(|(_, run)| is_open(run));
        if calls.is_empty() {
            return Vec::new();
        }
        calls.sort_unstable();
        let left = app.agents.values().filter_map(|it| self.agents.get(it));
        let left = left.filter(|agent| agent.left);
        let others: usize = left.map(|agent| agent.pending.calls().count()).sum();
        // Where there is no room for all of them, the app is told at once, which cancels all.
        match others + calls.len() <= WAITED_FOR {
            true => calls.into_iter().map(|(_, run)| run).collect(),
            false => Vec::new(),
        }
    }

    /// Tells the app of an agent that has left to cancel its calls, and waits.
    pub(super) fn stay(&mut self, peer: PeerId, calls: Vec<RunId>) {
        let Some(agent) = self.agents.get_mut(&peer) else {
            return;
        };
        agent.left = true;
        agent.questions.clear();
        agent.pending.leave();
        self.wait_for(peer, Some(self.grace()));
        for run in calls {
            self.revoke(run, Some(REASON.into()));
        }
    }

    /// Nothing more is waited for of an agent that has left, as all is known, or it took too long.
    pub(super) fn leave(&mut self, peer: PeerId) {
        let loss = Loss {
            reason: UNCONFIRMED,
            who: Some(Lost::Agent),
        };
        self.forget_agent(peer, loss, &unanswered());
    }
}
