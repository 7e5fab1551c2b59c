//! Agents: what each has in flight, and what each may send.

pub(super) mod pending;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::amount::Amount;
use super::internal::InternalSession;
use super::{PeerId, Profile, Seat, Wanted};
use crate::bounds::{Bound, Budget, Permit, Tally};
use crate::broker::apps::questions::Question;
use crate::broker::calls::{Deadlines, Dialect, name};
use crate::wire::Request;
use caphost::call::Millis;
use pending::{Counts, Entry, Pending};

/// The connection of one agent.
pub(super) struct Agent {
    /// The identity of the agent.
    pub profile: Profile,
    /// The agent's name in messages to the app.
    pub handle: String,
    /// The app that the agent has asked for.
    pub wanted: Wanted,
    /// The app that the agent is bound to since its first `initialize`.
    pub app: Option<PeerId>,
    /// The agent's requests that the app has not answered.
    pub pending: Pending,
    /// The app's questions to the agent, by the broker's ids.
    pub questions: BTreeMap<u64, Question>,
    /// The caller's half, if this is a session of the gateway itself.
    pub internal: Option<Box<InternalSession>>,
    /// Whether the agent has left while its calls are still waited for.
    pub left: bool,
    /// How long the app is waited for: to open or close a session of the gateway itself, or to end the calls
    /// of an agent that has left.
    pub until: Option<Millis>,
    pub rate: Rate,
    /// The capability that the agent called last: its runs share the text.
    pub called: Arc<str>,
    /// The place among the agents connected to this worker, until the agent leaves.
    pub place: Option<Permit<Arc<str>>>,
    /// The place among the sessions of the app.
    pub session: Option<Permit<Arc<str>>>,
}

impl Agent {
    /// Whether the agent is connected to this worker.
    pub(super) fn is_here(&self) -> bool {
        self.profile.seat != Seat::Elsewhere
    }

    /// Whether the agent has a connection, here or to another worker.
    pub(super) fn is_connected(&self) -> bool {
        self.internal.is_none() && !self.left
    }

    /// The name of the called capability, shared among runs.
    pub(super) fn name_of(&mut self, capability: &str) -> Arc<str> {
        if *self.called != *capability {
            self.called = name(capability.into());
        }
        self.called.clone()
    }
}

/// The agents and what they have in flight. A session of the gateway itself is an agent too.
pub struct Sessions {
    pub(super) all: FxHashMap<PeerId, Agent>,
    /// The agents connected to this worker, by owner.
    pub(super) connected: Arc<Budget<Arc<str>>>,
    /// How many requests of each type are unanswered, by the names of the owners. They are bounded, so that many
    /// connections of one token cannot fill the gateway's memory.
    in_flight: Tally<Arc<str>, Counts>,
    /// When the apps of agents are waited for no longer.
    pub(super) deadlines: Deadlines<PeerId>,
}

impl Sessions {
    /// No agents yet, of whom `max` may be connected.
    pub(super) fn new(max: usize) -> Self {
        Sessions {
            all: FxHashMap::default(),
            connected: Budget::of(Bound::with_last_kept(max, max)),
            in_flight: Tally::default(),
            deadlines: Deadlines::default(),
        }
    }

    pub(super) fn get(&self, peer: &PeerId) -> Option<&Agent> {
        self.all.get(peer)
    }

    pub(super) fn get_mut(&mut self, peer: &PeerId) -> Option<&mut Agent> {
        self.all.get_mut(peer)
    }

    /// An agent waits for the answer to a request.
    pub(super) fn add(&mut self, peer: PeerId, entry: Entry) {
        if let Some(agent) = self.all.get_mut(&peer) {
            if agent.is_here() {
                let owner = &agent.profile.owner.name;
                let counted = |all: &mut Counts| all[entry.request as usize].add(entry.amount);
                self.in_flight.change(owner, counted);
            }
            agent.pending.insert(entry);
        }
    }

    /// Removes and returns the request with that number, if `answers` is true for its type.
    pub(super) fn take(
        &mut self,
        peer: PeerId,
        issued: u64,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let agent = self.all.get_mut(&peer)?;
        let entry = agent.pending.take(issued, answers)?;
        if agent.is_here() {
            let owner = &agent.profile.owner.name;
            let counted = |all: &mut Counts| all[entry.request as usize].take(entry.amount);
            self.in_flight.change(owner, counted);
        }
        Some(entry)
    }

    /// The cancel with that number counts so much for its agent from now on.
    pub(super) fn count(&mut self, peer: PeerId, issued: u64, amount: Amount) {
        if let Some(agent) = self.all.get_mut(&peer) {
            let before = agent.pending.count_again(issued, amount);
            let owner = &agent.profile.owner.name;
            self.in_flight.change(owner, |all| {
                all[Request::Cancel as usize].take(before);
                all[Request::Cancel as usize].add(amount);
            });
        }
    }

    /// An agent leaves that has not left before: the agent and its pending work no longer count.
    pub(super) fn uncount(&mut self, peer: PeerId) {
        let agent = self.all.get_mut(&peer).filter(|agent| !agent.left);
        let Some(agent) = agent else {
            return;
        };
        agent.place = None;
        if agent.is_here() {
            let owner = &agent.profile.owner.name;
            self.in_flight.change(owner, |all| {
                for request in Request::ALL {
                    all[request as usize].take(agent.pending.amount(request));
                }
            });
        }
    }

    /// How much of the requests of that type `owner` has unanswered.
    pub(super) fn unanswered(&self, owner: &Arc<str>, request: Request) -> Amount {
        self.in_flight.of(owner)[request as usize]
    }

    /// Sets until when the app of an agent is waited for. `None` ends the wait.
    pub(super) fn wait_for(&mut self, peer: PeerId, until: Option<Millis>) {
        if let Some(agent) = self.all.get_mut(&peer) {
            let before = std::mem::replace(&mut agent.until, until);
            self.deadlines.change(peer, before, until);
        }
    }

    /// Requests whose agents wait for an answer. Questions do not count: an agent need not answer them, and a
    /// call that waits for an answer is in flight itself. Cancels by others do not count either.
    pub fn requests_in_flight(&self) -> usize {
        let agents = self.all.values().filter(|agent| !agent.left);
        agents.map(|agent| agent.pending.awaited()).sum()
    }

    /// Calls of agents that have left, whose ends are still waited for.
    pub fn calls_left(&self) -> usize {
        let agents = self.all.values().filter(|agent| agent.left);
        agents.map(|agent| agent.pending.calls().count()).sum()
    }

    /// Whether the peer is an agent that has not left.
    pub(super) fn is_agent(&self, peer: PeerId) -> bool {
        self.get(&peer).is_some_and(|agent| !agent.left)
    }

    /// Whether the peer is an agent that has left and whose calls are still waited for.
    pub(super) fn has_left(&self, peer: PeerId) -> bool {
        self.get(&peer).is_some_and(|agent| agent.left)
    }

    /// Agents by dialect, connected or of the gateway itself.
    pub fn by_dialect(&self) -> [(Dialect, usize); 4] {
        let mut agents = Dialect::ALL.map(|dialect| (dialect, 0));
        let here = |agent: &&Agent| agent.is_here() && !agent.left;
        for agent in self.all.values().filter(here) {
            agents[agent.profile.dialect.index()].1 += 1;
        }
        agents
    }
}

/// A token bucket that holds one second's worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    tokens: f64,
    at_ms: f64,
}

impl Rate {
    pub(super) fn full(per_second: f64, now_ms: f64) -> Self {
        Rate {
            tokens: per_second.max(1.0),
            at_ms: now_ms,
        }
    }

    /// Takes one token, or says how many milliseconds to wait for it.
    pub(super) fn take(&mut self, per_second: f64, now_ms: f64) -> Result<(), f64> {
        let earned = (now_ms - self.at_ms).max(0.0) * per_second / 1_000.0;
        self.tokens = (self.tokens + earned).min(per_second.max(1.0));
        self.at_ms = now_ms;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(((1.0 - self.tokens) * 1_000.0 / per_second).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_with_time() {
        let mut rate = Rate::full(2.0, 0.0);
        assert_eq!(rate.take(2.0, 0.0), Ok(()));
        assert_eq!(rate.take(2.0, 0.0), Ok(()));
        assert_eq!(rate.take(2.0, 0.0), Err(500.0));
        assert_eq!(rate.take(2.0, 250.0), Err(250.0));
        assert_eq!(rate.take(2.0, 500.0), Ok(()));
        assert_eq!(rate.take(2.0, 60_000.0), Ok(()));
    }
}
