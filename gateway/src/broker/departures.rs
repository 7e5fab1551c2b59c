//! Peers that go away, and the end of it all.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::apps::App;
use super::call::disconnected;
use super::load::Load;
use super::{Action, Backlog, Broker, CloseCode, PeerId, Seat};
use crate::broker::runs::Lost;
use crate::wire::{AGENT_CLOSED, Header, Outgoing, Request};
use caphost::call::{Code, Error};

pub(super) const APP_GONE: &str = "The app disconnected before it confirmed";
const AGENT_GONE: &str = "The agent disconnected before the app confirmed";
/// The reason that the calls are given which a stopping gateway cancels.
pub const STOPPING: &str = "The gateway is shutting down";

impl Broker {
    pub(super) fn gone(&mut self, peer: PeerId) {
        if self.agents.contains_key(&peer) {
            self.agent_gone(peer);
        } else {
            self.app_gone(peer);
        }
    }

    fn agent_gone(&mut self, peer: PeerId) {
        let Some(mut agent) = self.agents.remove(&peer) else {
            return;
        };
        self.remote_agents -= usize::from(agent.profile.seat == Seat::Connected);
        if agent.is_here() {
            let owner = &agent.profile.owner.name;
            self.in_flight.give_back(owner, agent.pending.counts());
        }
        let (lost, error) = match &agent.own {
            Some(_) => (None, disconnected()),
            None => (
                Some(Lost::Agent),
                Error::new(Code::DISCONNECTED, AGENT_GONE),
            ),
        };
        let bytes = agent.pending.bytes();
        let mut asked = self.stays_for(&agent);
        let stays = !asked.is_empty();
        for (issued, entry) in agent.pending.take_issued() {
            if asked.contains_key(&issued) {
                continue;
            }
            // Whoever had a run cancelled is still told what came of it.
            if let Some(run) = entry.revokes().filter(|_| stays) {
                asked.insert(issued, (Request::Cancel, run));
                continue;
            }
            let lost = (AGENT_GONE, lost);
            self.run_lost(peer, &entry, lost, &error);
        }
        if let Some(own) = agent.own.take() {
            self.own_gone(peer, *own, &error);
        }
        let Some(bound) = agent.app else { return };
        if let Some(app) = self.apps.get_mut(&bound) {
            app.agents.remove(&agent.handle);
            let owner = &agent.profile.owner.name;
            match app.backlog {
                Backlog::Short => app.load.give_back(owner, bytes),
                // It is gone, and what it has sent still waits.
                Backlog::Long | Backlog::Full => app.load.leave(owner, bytes),
            }
            if stays {
                return self.stay(peer, agent, asked);
            }
            match agent.profile.seat {
                Seat::Elsewhere => app.left_behind.keep_elsewhere(&agent.handle, peer),
                _ => app.left_behind.keep(&agent.handle, agent.stopped),
            }
        }
        self.bid_farewell(bound, &agent.handle);
    }

    /// Tells an app that an agent is gone.
    pub(super) fn bid_farewell(&mut self, app: PeerId, handle: &str) {
        let header = Header {
            kind: AGENT_CLOSED,
            id: None,
            agent: Some(handle),
            timestamp: &self.timestamp,
        };
        let message = Outgoing::new(header, "{}", None);
        self.actions.push_back(Action::Send { peer: app, message });
    }

    /// Whatever an app has registered is given back.
    fn unregister(&mut self, peer: PeerId, app: &App) {
        if let Some(owner) = app.counted() {
            self.registered.give_back(owner, Amount::one(app.bytes));
        }
        if let Some(id) = &app.id {
            self.app_unlisted(peer, id.clone(), app.seat);
        }
    }

    pub(super) fn app_gone(&mut self, peer: PeerId) {
        let Some(app) = self.apps.remove(&peer) else {
            return;
        };
        self.unregister(peer, &app);
        self.all_leave(app.leaving, Lost::App);
        let mut agents: Vec<_> = app.agents.into_values().collect();
        agents.sort_unstable();
        for agent in agents {
            self.bereave(agent);
        }
    }

    /// What waited for an app on another worker was dropped. To its agents here the app is as good as
    /// gone, and the app is told that they are. It stays for others.
    pub(super) fn emptied(&mut self, peer: PeerId) {
        let Some(app) = self.apps.get_mut(&peer) else {
            return;
        };
        app.backlog = Backlog::Short;
        app.load = Load::default();
        let leaving = std::mem::take(&mut app.leaving);
        let mut agents: Vec<_> = std::mem::take(&mut app.agents).into_iter().collect();
        agents.sort_unstable_by_key(|(_, agent)| *agent);
        self.all_leave(leaving, Lost::App);
        for (handle, agent) in agents {
            self.bereave(agent);
            self.bid_farewell(peer, &handle);
        }
    }

    /// An app on another worker has lost an agent: to the agent it is as if the app had gone.
    pub(super) fn agent_lost(&mut self, app: PeerId, handle: &str) {
        let Some(app) = self.apps.get_mut(&app) else {
            return;
        };
        if let Some(peer) = app.leaving.get(handle).copied() {
            return self.leave(peer, Lost::App);
        }
        let Some(peer) = app.agents.remove(handle) else {
            return;
        };
        if let Some(agent) = self.agents.get(&peer) {
            let bytes = agent.pending.bytes();
            app.load.give_back(&agent.profile.owner.name, bytes);
        }
        self.bereave(peer);
    }

    /// Agents that have left are not waited for any more.
    fn all_leave(&mut self, leaving: FxHashMap<String, PeerId>, lost: Lost) {
        let mut leaving: Vec<_> = leaving.into_values().collect();
        leaving.sort_unstable();
        for peer in leaving {
            self.leave(peer, lost);
        }
    }

    fn bereave(&mut self, agent: PeerId) {
        let lost = (APP_GONE, Some(Lost::App));
        self.dismiss(agent, lost, "The app disconnected");
        self.close(agent, CloseCode::APP_GONE, "The app disconnected");
    }

    pub(super) fn shutdown(&mut self) {
        self.stopping = true;
        let mut agents: Vec<_> = self.agents.keys().copied().collect();
        agents.sort_unstable();
        for agent in agents {
            self.dismiss(agent, (STOPPING, Some(Lost::Gateway)), STOPPING);
            self.close(agent, CloseCode::GOING_AWAY, STOPPING);
        }
        for (peer, mut app) in std::mem::take(&mut self.apps) {
            self.unregister(peer, &app);
            self.all_leave(std::mem::take(&mut app.leaving), Lost::Gateway);
            self.close(peer, CloseCode::GOING_AWAY, STOPPING);
        }
    }

    /// Answers whatever an agent waits for, cancels first, and forgets it. Of calls and cancels the
    /// outcome is unknown; nothing else has one.
    fn dismiss(&mut self, peer: PeerId, cancel_reason: (&str, Option<Lost>), why: &'static str) {
        let Some(agent) = self.agents.get_mut(&peer) else {
            return;
        };
        if agent.is_here() {
            let owner = &agent.profile.owner.name;
            self.in_flight.give_back(owner, agent.pending.counts());
        }
        // Its calls are told one by one.
        let own = agent.own.take();
        for entry in agent.pending.take_all() {
            let message = match entry.request {
                Request::Call | Request::Cancel => format!("{why}: the outcome is unknown").into(),
                _ => Cow::Borrowed(why),
            };
            let error = Error::new(Code::DISCONNECTED, message);
            self.fail(peer, &entry, cancel_reason, &error);
        }
        let Some(agent) = self.agents.remove(&peer) else {
            return;
        };
        self.remote_agents -= usize::from(agent.profile.seat == Seat::Connected);
        if let Some(own) = own {
            let error = Error::new(Code::DISCONNECTED, format!("{why}: the outcome is unknown"));
            self.own_gone(peer, *own, &error);
        }
    }
}
