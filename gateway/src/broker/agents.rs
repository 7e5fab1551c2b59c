//! Agents: what each has in flight, and what each may send.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::backlog::does_not_keep_up;
use super::call::{APP_LEFT, STOPPING};
use super::own::OwnSession;
use super::pending::{Pending, read_issued};
use super::questions::Question;
use super::{Action, Backlog, Broker, CloseCode, Message, PeerId, Profile, Seat, Wanted};
use crate::broker::calls::name;
use crate::places::{Bound, Full};
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
                self.connected
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
            self.connected.take(&agent.profile.holder, 1);
        }
        self.agents.insert(peer, agent);
    }

    pub(super) fn agent_message(&mut self, peer: PeerId, message: Message<'_>) {
        let Message { envelope, content } = message;
        let envelope = &envelope;
        let per_second = self.limits.requests_per_second;
        let now = self.now.monotonic_ms;
        let Some(agent) = self.agents.get_mut(&peer) else {
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
        let Some(agent) = self.agents.get_mut(&peer) else {
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
        if self.stopping {
            self.close(peer, CloseCode::GOING_AWAY, STOPPING);
        }
        self.stopping
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
