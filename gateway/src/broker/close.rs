//! Peers that leave, and the end of the broker.
//!
//! Of an agent that has left, the broker asks the app to cancel the calls, and the app has the confirm timeout to
//! say how they ended. Only then does the broker tell the app that the agent is gone.

use super::answers::Loss;
use super::apps::load::Load;
use super::calls::outcome::{APP_LEFT, STOPPING, UNCONFIRMED, disconnected, unanswered};
use super::calls::{Asker, Lost, RunId};
use super::{Backlog, Broker, CloseCode, PeerId, Seat, Wanted};
use crate::wire::{Failure, Request};
use caphost::call::{Code, Error};

pub(super) const APP_GONE: &str = "The app disconnected before it confirmed";
const AGENT_GONE: &str = "The agent disconnected before the app confirmed";

/// How many calls of agents that have left one app are waited for.
const WAITED_FOR: usize = 1_024;
/// The reason of these cancels.
const REASON: &str = "The caller has gone away";

impl Broker {
    pub(super) fn gone(&mut self, peer: PeerId) {
        if self.sessions.all.contains_key(&peer) {
            self.agent_gone(peer);
        } else {
            self.app_gone(peer);
        }
    }

    fn agent_gone(&mut self, peer: PeerId) {
        if self.sessions.has_left(peer) {
            return;
        }
        self.sessions.uncount(peer);
        let Some(agent) = self.sessions.get(&peer) else {
            return;
        };
        let (owner, bytes) = (&agent.profile.owner.name, agent.pending.bytes());
        if let Some(app) = agent.app.and_then(|app| self.apps.get_mut(&app)) {
            app.give_up(owner, bytes);
        }
        let is_own = agent.internal.is_some();
        let calls = self.waited_for(peer);
        if !calls.is_empty() {
            return self.stay(peer, calls);
        }
        let (who, error) = match is_own {
            true => (None, disconnected()),
            false => (
                Some(Lost::Agent),
                Error::new(Code::DISCONNECTED, AGENT_GONE),
            ),
        };
        let reason = AGENT_GONE;
        self.forget_agent(peer, Loss { reason, who }, &error);
    }

    /// An agent has gone: the broker forgets it and tells its app. The outcome of its calls and cancels will
    /// never be known.
    pub(super) fn forget_agent(&mut self, peer: PeerId, loss: Loss, error: &Failure) {
        self.wait_for(peer, None);
        let Some(mut agent) = self.sessions.all.remove(&peer) else {
            return;
        };
        for mut entry in agent.pending.take_all() {
            self.run_lost(peer, &mut entry, loss, error);
            if let Some(app) = agent.app.and_then(|app| self.apps.get_mut(&app)) {
                app.given_up.keep(peer, &mut entry, agent.profile.seat);
            }
        }
        if let Some(own) = agent.internal.take() {
            self.internal_gone(*own, error);
        }
        let abandoned = self.calls.forget_session(peer);
        let Some(bound) = agent.app else {
            if let Wanted::Peer(wanted) = agent.wanted
                && let Some(app) = self.apps.get_mut(&wanted)
            {
                app.unbound.remove(&peer);
            }
            return;
        };
        if let Some(app) = self.apps.get_mut(&bound) {
            app.agents.remove(&agent.handle);
            match agent.profile.seat {
                Seat::Elsewhere => app.left_behind.keep_elsewhere(&agent.handle, peer),
                _ => app.left_behind.keep(&agent.handle, abandoned),
            }
        }
        self.bid_farewell(bound, &agent.handle);
    }

    pub(super) fn app_gone(&mut self, peer: PeerId) {
        let Some(app) = self.apps.all.remove(&peer) else {
            return;
        };
        self.apps.unregister(peer, &app);
        let mut agents: Vec<_> = app.agents.into_values().chain(app.unbound).collect();
        agents.sort_unstable();
        for agent in agents {
            self.bereave(agent);
        }
    }

    /// The messages that waited for an app on another worker were dropped. To its agents on this worker the
    /// app is as good as gone, and the app is told that these agents are gone. Other agents keep the app.
    pub(super) fn emptied(&mut self, peer: PeerId) {
        let Some(app) = self.apps.get_mut(&peer) else {
            return;
        };
        app.backlog = Backlog::Short;
        app.load = Load::default();
        let mut agents: Vec<_> = std::mem::take(&mut app.agents).into_iter().collect();
        agents.sort_unstable_by_key(|(_, agent)| *agent);
        for (handle, agent) in agents {
            self.bereave(agent);
            self.bid_farewell(peer, &handle);
        }
    }

    /// An app on another worker has lost an agent. To that agent the app is gone.
    pub(super) fn agent_lost(&mut self, app: PeerId, handle: &str) {
        let Some(app) = self.apps.get_mut(&app) else {
            return;
        };
        let Some(peer) = app.agents.remove(handle) else {
            return;
        };
        if let Some(agent) = self.sessions.get(&peer) {
            let bytes = agent.pending.bytes();
            app.load.give_back(&agent.profile.owner.name, bytes);
        }
        self.bereave(peer);
    }

    fn bereave(&mut self, agent: PeerId) {
        let loss = Loss {
            reason: APP_GONE,
            who: Some(Lost::App),
        };
        self.dismiss(agent, loss, CloseCode::APP_GONE, APP_LEFT);
    }

    /// New sessions of an app on a draining worker go to an instance elsewhere, if there is any.
    pub(super) fn app_draining(&mut self, peer: PeerId) {
        let Some(app) = self.apps.get_mut(&peer) else {
            return;
        };
        app.draining = true;
        let seat = app.seat;
        if let Some(id) = app.id.clone() {
            // The other instance may offer something else.
            self.apps.offers(peer, id, seat);
        }
    }

    pub(super) fn shutdown(&mut self) {
        self.apps.stop();
        let mut agents: Vec<_> = self.sessions.all.keys().copied().collect();
        agents.sort_unstable();
        for agent in agents {
            let loss = Loss {
                reason: STOPPING,
                who: Some(Lost::Gateway),
            };
            self.dismiss(agent, loss, CloseCode::GOING_AWAY, STOPPING);
        }
        for (peer, app) in std::mem::take(&mut self.apps.all) {
            self.apps.unregister(peer, &app);
            self.close(peer, CloseCode::GOING_AWAY, STOPPING);
        }
    }

    /// Answers everything that an agent waits for, cancels first, then closes and forgets the agent. Only
    /// calls and cancels have an outcome, and it is unknown.
    fn dismiss(&mut self, peer: PeerId, loss: Loss, code: CloseCode, why: &'static str) {
        self.wait_for(peer, None);
        self.sessions.uncount(peer);
        let Some(mut agent) = self.sessions.all.remove(&peer) else {
            return;
        };
        let unknown = Error::new(Code::DISCONNECTED, format!("{why}: the outcome is unknown"));
        let nothing = Error::new(Code::DISCONNECTED, why);
        for mut entry in agent.pending.take_all() {
            let error = match entry.request {
                Request::Call | Request::Cancel => &unknown,
                _ => &nothing,
            };
            self.fail(peer, &mut entry, loss, error);
        }
        if let Some(own) = agent.internal.take() {
            self.internal_gone(*own, &unknown);
        }
        self.calls.forget_session(peer);
        if !agent.left {
            self.close(peer, code, why);
        }
    }

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
