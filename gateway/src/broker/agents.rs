//! Agents: what each has in flight, and what each may send.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::json;

use super::amount::Amount;
use super::backlog::does_not_keep_up;
use super::call::{APP_LEFT, STOPPING};
use super::in_flight::InFlight;
use super::own::OwnSession;
use super::pending::{Entry, Pending, read_issued};
use super::questions::Question;
use super::{Action, Backlog, Broker, CloseCode, Message, PeerId, Profile, Seat, Wanted};
use crate::broker::calls::{Deadlines, Dialect, name};
use crate::places::{Bound, Full, Places};
use crate::wire::abp::kind;
use crate::wire::{Envelope, Failure, Header, Outgoing, Request, Subject};
use caphost::call::{Code, Error, Millis};

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
    pub own: Option<Box<OwnSession>>,
    /// Whether the agent has left while its calls are still waited for.
    pub left: bool,
    /// How long the app is waited for: to open or close a session of the gateway itself, or to end the calls
    /// of an agent that has left.
    pub until: Option<Millis>,
    rate: Rate,
    /// The capability that the agent called last: its runs share the text.
    called: Arc<str>,
}

impl Agent {
    /// Whether the agent is connected to this worker.
    pub(super) fn is_here(&self) -> bool {
        self.profile.seat != Seat::Elsewhere
    }

    /// Whether the agent has a connection, here or to another worker.
    pub(super) fn is_connected(&self) -> bool {
        self.own.is_none() && !self.left
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
#[derive(Default)]
pub struct Sessions {
    pub(super) all: FxHashMap<PeerId, Agent>,
    /// The agents connected to this worker, by owner.
    pub(super) connected: Places<Arc<str>>,
    /// The unanswered requests of these agents.
    pub(super) in_flight: InFlight,
    /// When the apps of agents are waited for no longer.
    pub(super) deadlines: Deadlines<PeerId>,
}

impl Sessions {
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
                self.in_flight.add(owner, entry.request, entry.amount);
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
            self.in_flight.give_back(owner, entry.request, entry.amount);
        }
        Some(entry)
    }

    /// The cancel with that number counts so much for its agent from now on.
    pub(super) fn count(&mut self, peer: PeerId, issued: u64, amount: Amount) {
        if let Some(agent) = self.all.get_mut(&peer) {
            let before = agent.pending.count_again(issued, amount);
            let owner = &agent.profile.owner.name;
            self.in_flight.give_back(owner, Request::Cancel, before);
            self.in_flight.add(owner, Request::Cancel, amount);
        }
    }

    /// An agent leaves that has not left before: the agent and its pending work no longer count.
    pub(super) fn uncount(&mut self, peer: PeerId) {
        let Some(agent) = self.all.get(&peer).filter(|agent| !agent.left) else {
            return;
        };
        if agent.profile.seat == Seat::Connected {
            self.connected.give_back(&agent.profile.holder, 1);
        }
        if agent.is_here() {
            let owner = &agent.profile.owner.name;
            for request in Request::ALL {
                let amount = agent.pending.amount(request);
                self.in_flight.give_back(owner, request, amount);
            }
        }
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

impl Broker {
    pub(super) fn agent_joined(&mut self, peer: PeerId, wanted: Wanted, profile: Profile) {
        // Sessions of the gateway itself and agents of other workers have bounds of their own.
        let counted = profile.seat == Seat::Connected;
        // Another worker may not know yet that this worker drains: its agent is told so.
        if profile.seat != Seat::Elsewhere && self.turned_away(peer) {
            return;
        }
        let max = self.limits.sessions;
        if counted
            && let Err(why) =
                self.sessions
                    .connected
                    .check(&profile.holder, 1, Bound::with_last_kept(max, max))
        {
            let message = match why {
                Full::All(_) => format!("{max} agents are connected, and no more are accepted"),
                _ => format!("Of {max} agents that may be connected {why} (--max-sessions)"),
            };
            return self.turn_away(peer, &Error::new(Code::RATE_LIMITED, message));
        }
        if let (Wanted::Peer(app), Seat::Elsewhere) = (&wanted, profile.seat) {
            let Some(app) = self.apps.get_mut(app) else {
                return self.close(peer, CloseCode::APP_GONE, APP_LEFT);
            };
            app.unbound.insert(peer);
        }
        let agent = Agent {
            handle: format!("a{}", self.issue()),
            wanted: match wanted {
                Wanted::Any => Wanted::from(profile.owner.app.as_deref().map(str::to_string)),
                named => named,
            },
            app: None,
            pending: Pending::default(),
            questions: BTreeMap::new(),
            own: None,
            left: false,
            until: None,
            rate: Rate::full(self.limits.requests_per_second, self.now.monotonic_ms),
            called: Arc::default(),
            profile,
        };
        if counted {
            self.sessions.connected.take(&agent.profile.holder, 1);
        }
        self.sessions.all.insert(peer, agent);
    }

    pub(super) fn agent_message(&mut self, peer: PeerId, message: Message<'_>) {
        let Message { envelope, content } = message;
        let envelope = &envelope;
        let per_second = self.limits.requests_per_second;
        let now = self.now.monotonic_ms;
        let Some(agent) = self.sessions.get_mut(&peer) else {
            return;
        };
        // An agent that calls through another was counted with that one.
        let counted = agent.profile.seat == Seat::Connected;
        if counted && let Err(wait) = agent.rate.take(per_second, now) {
            let mut error = Error::new(Code::RATE_LIMITED, "Too many messages per second")
                .with_details(Box::new(
                    json!({ "limit": "requestsPerSecond", "max": per_second }),
                ));
            error.retry_after = Some(wait);
            return self.refuse(peer, &envelope.subject(), &error);
        }
        match (Request::of(&envelope.kind), &*envelope.kind) {
            (Some(request), _) => self.agent_request(peer, envelope, request, content),
            (None, kind::ELICITATION_RESPONSE) => self.agent_answers(peer, envelope),
            (None, "error") => {}
            (None, "app/register" | "app/resume" | "app/update") => {
                let message = "Agents connect here, at /abp: an app connects to /abp/app";
                let error = Error::new(Code::NOT_IMPLEMENTED, message);
                self.refuse(peer, &envelope.subject(), &error);
            }
            (None, _) => self.refuse_kind(peer, envelope),
        }
    }

    /// Passes the answer to a question on to the app that has asked.
    fn agent_answers(&mut self, peer: PeerId, envelope: &Envelope<'_>) {
        let payload = match envelope.object() {
            Ok(payload) => payload,
            Err(error) => return self.refuse(peer, &envelope.subject(), &error),
        };
        let Some(agent) = self.sessions.get_mut(&peer) else {
            return;
        };
        let bound = agent.app.and_then(|app| self.apps.get(&app));
        if bound.is_some_and(|app| app.backlog == Backlog::Full) {
            // The question stays: the agent may answer later.
            return self.refuse(peer, &envelope.subject(), &does_not_keep_up());
        }
        let question = envelope.id.and_then(read_issued);
        let question = question.and_then(|issued| agent.questions.remove(&issued));
        let (Some(question), Some(app)) = (question, agent.app) else {
            self.counters.answers_dropped += 1;
            return;
        };
        let header = Header {
            kind: kind::ELICITATION_RESPONSE,
            id: Some(&question.id),
            agent: Some(&agent.handle),
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        let message = Outgoing::new(header, payload, envelope.shared);
        self.actions.push_back(Action::Send { peer: app, message });
    }

    pub(super) fn refuse_kind(&mut self, peer: PeerId, envelope: &Envelope<'_>) {
        let kind: Cow<str> = match envelope.kind.char_indices().nth(64) {
            Some((end, _)) => format!("{}…", &envelope.kind[..end]).into(),
            None => Cow::Borrowed(&envelope.kind),
        };
        let error = Error::new(
            Code::NOT_IMPLEMENTED,
            format!("There is no message type {kind:?}"),
        );
        let subject = Subject {
            kind: None,
            ..envelope.subject()
        };
        self.refuse(
            peer,
            &subject,
            &error.with_details(Box::new(json!({ "path": "type" }))),
        );
    }

    /// Whether the gateway is stopping and takes no new peer. If so, the peer is closed.
    pub(super) fn turned_away(&mut self, peer: PeerId) -> bool {
        if self.apps.stopping {
            self.close(peer, CloseCode::GOING_AWAY, STOPPING);
        }
        self.apps.stopping
    }

    /// Tells a peer that there is no room, and closes its connection.
    pub(super) fn turn_away(&mut self, peer: PeerId, error: &Failure) {
        self.refuse(peer, &Subject::default(), error);
        self.close(peer, CloseCode::TRY_AGAIN, error.message.clone());
    }
}

/// A token bucket that holds one second's worth.
#[derive(Clone, Copy, Debug)]
struct Rate {
    tokens: f64,
    at_ms: f64,
}

impl Rate {
    fn full(per_second: f64, now_ms: f64) -> Self {
        Rate {
            tokens: per_second.max(1.0),
            at_ms: now_ms,
        }
    }

    /// Takes one token, or says how many milliseconds to wait for it.
    fn take(&mut self, per_second: f64, now_ms: f64) -> Result<(), f64> {
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
