//! Messages of agents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::backlog::does_not_keep_up;
use super::calls::outcome::{APP_LEFT, STOPPING};
use super::sessions::pending::{Pending, read_issued};
use super::sessions::{Agent, Rate};
use super::{Action, Backlog, Broker, CloseCode, Message, PeerId, Profile, Seat, Wanted};
use crate::bounds::Full;
use crate::wire::abp::kind;
use crate::wire::{Envelope, Failure, Header, Outgoing, Request, Subject};
use caphost::call::{Code, Error};

impl Broker {
    pub(super) fn agent_joined(&mut self, peer: PeerId, wanted: Wanted, profile: Profile) {
        // Sessions of the gateway itself and agents of other workers have bounds of their own.
        let counted = profile.seat == Seat::Connected;
        // Another worker may not know yet that this worker drains: its agent is told so.
        if profile.seat != Seat::Elsewhere && self.turned_away(peer) {
            return;
        }
        let max = self.limits.sessions;
        let place = counted.then(|| self.sessions.connected.take(&profile.quota_key, 1));
        let place = match place.transpose() {
            Ok(place) => place,
            Err(why) => {
                let message = match why {
                    Full::All(_) => format!("{max} agents are connected, and no more are accepted"),
                    _ => format!("Of {max} agents that may be connected {why} (--max-sessions)"),
                };
                return self.turn_away(peer, &Error::new(Code::RATE_LIMITED, message));
            }
        };
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
            internal: None,
            left: false,
            until: None,
            rate: Rate::full(self.limits.requests_per_second, self.now.monotonic_ms),
            called: Arc::default(),
            profile,
            place,
            session: None,
        };
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
