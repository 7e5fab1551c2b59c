//! Messages of apps.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::apps::App;
use super::apps::given_up::GivenUp;
use super::apps::left_behind::LeftBehind;
use super::apps::load::Load;
use super::apps::questions::QUESTIONS;
use super::message::Content;
use super::sessions::Agent;
use super::sessions::pending::IssuedId;
use super::{Action, Backlog, Broker, Message, PeerId, Seat};
use crate::bounds::{Bound, Budget};
use crate::tokens::Identity;
use crate::wire::abp::ELICITATION_WITHDRAWN;
use crate::wire::{Envelope, Header, Outgoing, RefusedMessage, Request, Subject, invalid_at};
use caphost::call::{Code, Error};

impl Broker {
    pub(super) fn app_joined(&mut self, peer: PeerId, identity: Option<Identity>, seat: Seat) {
        if self.turned_away(peer) {
            return;
        }
        // The app counts once it has registered.
        let app = App {
            identity,
            id: None,
            registration: None,
            instance: None,
            bytes: 0,
            manifest: Arc::default(),
            agents: FxHashMap::default(),
            sessions: Budget::of(self.sessions_with_one(seat)),
            unbound: FxHashSet::default(),
            left_behind: LeftBehind::default(),
            given_up: GivenUp::default(),
            load: Load::default(),
            backlog: Backlog::Short,
            seat,
            suspended: None,
            draining: false,
        };
        self.apps.all.insert(peer, app);
    }

    /// How many sessions an app may have: one holder has no more than half of them. The worker of an app
    /// elsewhere counts its sessions, over all workers. A tool server has no sessions.
    fn sessions_with_one(&self, seat: Seat) -> Bound {
        let max = self.limits.sessions_per_app;
        match seat {
            Seat::Connected => Bound::with_last_kept(max, max.div_ceil(2)),
            Seat::Elsewhere | Seat::Own => Bound::new(usize::MAX, usize::MAX),
        }
    }

    pub(super) fn app_message(&mut self, peer: PeerId, message: Message<'_>) {
        let Message { envelope, content } = message;
        let envelope = &envelope;
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        let registered = app.registration.is_some();
        let content = match content {
            Content::Register(register) => return self.register(peer, envelope, *register),
            Content::Failed(_) if envelope.agent.is_none() => return,
            _ if !registered => {
                // To ask again at this path does not help an agent.
                let (code, message) = match Request::of(&envelope.kind) {
                    Some(_) => (
                        Code::NOT_IMPLEMENTED,
                        "Apps connect here, at /abp/app: an agent connects to /abp",
                    ),
                    None => (Code::NOT_INITIALIZED, "Send `app/register` first"),
                };
                let error = Error::new(code, message);
                return self.refuse(peer, &envelope.subject(), &error);
            }
            Content::Update(update) => return self.update(peer, envelope, *update),
            content => content,
        };
        let Some(handle) = envelope.agent.as_deref() else {
            if !is_for_an_agent(&envelope.kind) {
                return self.refuse_kind(peer, envelope);
            }
            let error = invalid_at("agent", "`agent` is missing");
            return self.refuse(peer, &envelope.subject(), &error);
        };
        let is_answer = matches!(&content, Content::Answer(..) | Content::Failed(_));
        let left = || app.given_up.agent(envelope.id.filter(|_| is_answer));
        let Some(agent) = app.agents.get(handle).copied().or_else(left) else {
            let known = match &content {
                Content::LateEnd(call_id, end) => {
                    let left = app.left_behind.of_elsewhere(handle);
                    self.note_late_end_of_left(peer, handle, call_id, *end)
                        || left.is_some_and(|left| self.tell_left(left, envelope))
                }
                _ => false,
            };
            self.counters.strays_dropped += u64::from(!known);
            return;
        };
        if !is_answer && !matches!(&content, Content::LateEnd(..)) && self.sessions.has_left(agent)
        {
            // Progress, questions and notifications name no agent that is still here.
            return;
        }
        match (&content, &*envelope.kind) {
            (Content::Withdrawn(id), _) => self.withdraw(peer, agent, id),
            (Content::Progress(operation), _) => {
                if let Some(operation) = operation
                    && !self.note_progress(agent, operation, envelope)
                {
                    // The call of this progress is over.
                    self.counters.strays_dropped += 1;
                    return;
                }
                self.tell(peer, agent, envelope, None);
            }
            (Content::LateEnd(call_id, end), _) => {
                let known = self.note_late_end(agent, call_id, *end);
                let is_stray = !known && self.sessions.has_left(agent);
                self.counters.strays_dropped += u64::from(is_stray);
                self.tell(peer, agent, envelope, None);
            }
            (_, "notification") => self.tell(peer, agent, envelope, None),
            (_, "elicitation/request") => self.ask(peer, agent, envelope),
            (Content::Failed(error), _) => self.app_failed(peer, agent, envelope, error.as_deref()),
            (Content::Answer(request, said), _) => {
                self.app_answered(peer, agent, envelope, (*request, &**said));
            }
            _ => self.refuse_kind(peer, envelope),
        }
    }

    /// An app has sent a message that cannot be read. Agents that wait for it are answered.
    pub(super) fn app_refused(&mut self, peer: PeerId, refusal: RefusedMessage) {
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        let RefusedMessage { subject, error } = refusal;
        if app.registration.is_none() && subject.kind.as_deref() == Some("app/register") {
            return self.refuse_app(peer, subject.id.as_deref(), &error);
        }
        let handle = subject.agent.as_deref().unwrap_or_default();
        if let Some(agent) = app.agents.get(handle).copied() {
            self.answer_unreadable(peer, agent, &subject, &error);
        }
        // No message of an app has a typed answer that refuses it.
        self.refuse(
            peer,
            &Subject {
                kind: subject.kind.filter(|it| it == "error"),
                ..subject
            },
            &error,
        );
    }

    /// Passes a message on to an agent, under the broker's id or none.
    fn tell(&mut self, peer: PeerId, agent: PeerId, envelope: &Envelope<'_>, id: Option<&str>) {
        let payload = match envelope.object() {
            Ok(payload) => payload,
            Err(error) => return self.refuse(peer, &envelope.subject(), &error),
        };
        // A session of the gateway itself has already been told what concerns it.
        if !self.sessions.get(&agent).is_some_and(Agent::is_connected) {
            return;
        }
        let header = Header {
            kind: &envelope.kind,
            id,
            agent: None,
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        let message = Outgoing::new(header, payload, envelope.shared);
        self.actions.push_back(Action::Send {
            peer: agent,
            message,
        });
    }

    /// Passes a message on to the worker of an agent that has left. Returns whether that is possible.
    fn tell_left(&mut self, agent: PeerId, envelope: &Envelope<'_>) -> bool {
        let Ok(payload) = envelope.object() else {
            return false;
        };
        let header = Header {
            kind: &envelope.kind,
            id: None,
            agent: None,
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        let message = Outgoing::new(header, payload, None);
        self.actions.push_back(Action::Left { agent, message });
        true
    }

    /// A question needs no answer any more. The broker forgets the question and tells the agent.
    fn withdraw(&mut self, peer: PeerId, from: PeerId, id: &str) {
        let Some(agent) = self
            .sessions
            .get_mut(&from)
            .filter(|it| it.app == Some(peer))
        else {
            return;
        };
        if agent.internal.is_some() {
            return self.withdraw_internal(from, id);
        }
        let asked = agent.questions.iter().find(|(_, asked)| *asked.id == *id);
        match asked.map(|(issued, _)| *issued) {
            Some(issued) => {
                agent.questions.remove(&issued);
                let data = format!(r#"{{"id":{}}}"#, IssuedId::of(issued).as_str());
                let payload = format!(r#"{{"event":"{ELICITATION_WITHDRAWN}","data":{data}}}"#);
                self.send(from, "notification", None, &payload);
            }
            None => self.counters.strays_dropped += 1,
        }
    }

    /// Passes a question on to an agent, under an id of the broker.
    fn ask(&mut self, peer: PeerId, to: PeerId, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id.filter(|_| envelope.object().is_ok()) else {
            let error = match envelope.object() {
                Err(error) => error,
                Ok(_) => invalid_at("id", "`id` is missing"),
            };
            return self.refuse(peer, &envelope.subject(), &error);
        };
        if self
            .sessions
            .get(&to)
            .is_some_and(|it| it.internal.is_some())
        {
            return self.ask_internal(peer, to, envelope, id);
        }
        let issued = self.issue();
        let max = QUESTIONS.min(self.limits.in_flight);
        let owner = self.apps.get(&peer).and_then(|app| app.identity.clone());
        let asked = owner.map(|owner| self.apps.asked.entry(owner.name).or_default());
        let (Some(agent), Some(asked)) = (self.sessions.get_mut(&to), asked) else {
            return;
        };
        // An agent need not answer: its oldest question makes room.
        while agent.questions.len() >= max || !asked.has_room(id) {
            if agent.questions.pop_first().is_none() {
                let message =
                    "Too many questions of this app and its owner's others wait for answers";
                let error = Error::new(Code::RATE_LIMITED, message);
                return self.refuse(peer, &envelope.subject(), &error);
            }
        }
        agent.questions.insert(issued, asked.question(id));
        self.tell(peer, to, envelope, Some(IssuedId::of(issued).as_str()));
    }
}

fn is_for_an_agent(kind: &str) -> bool {
    matches!(kind, "notification" | "progress" | "elicitation/request")
        || Request::answered_by(kind).is_some()
}
