//! Apps: what each may send.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;

use super::agents::Agent;
use super::instance::Instance;
use super::load::Load;
use super::message::Content;
use super::offer::Offer;
use super::pending::IssuedId;
use super::questions::QUESTIONS;
use super::stops::LeftBehind;
use super::{Action, Backlog, Broker, Message, PeerId, Seat};
use crate::places::Places;
use crate::tokens::Identity;
use crate::wire::abp::ELICITATION_WITHDRAWN;
use crate::wire::{
    Envelope, Failure, Header, Json, Outgoing, RefusedMessage, Request, Subject, error_json,
    invalid_at,
};
use caphost::call::{Code, Error};

/// One app's connection.
pub(super) struct App {
    /// Who it is, if it has shown a token or needs none.
    pub identity: Option<Identity>,
    /// What it is called by, once it has registered.
    pub id: Option<Arc<str>>,
    /// What it offers, once it has registered.
    pub registration: Option<Arc<Offer>>,
    /// How many bytes are kept of that.
    pub bytes: usize,
    /// Which of the app's connections it is, once it has registered.
    pub instance: Option<Instance>,
    /// Its `/abp.json`, once somebody has asked for it.
    pub manifest: Arc<OnceLock<Bytes>>,
    /// The agents bound to it, by their names on its wire, which are the broker's own. It is not told yet
    /// of those that have left.
    pub agents: FxHashMap<String, PeerId>,
    /// Whose they are.
    pub sessions: Places<Arc<str>>,
    /// Agents of other workers that may be bound to it, and are not yet.
    pub unbound: FxHashSet<PeerId>,
    /// Calls of agents that have left it, which it may still work on.
    pub left_behind: LeftBehind,
    /// What its agents have it work on.
    pub load: Load,
    /// How much waits to be written to it.
    pub backlog: Backlog,
    /// Where it is.
    pub seat: Seat,
    /// Since when it may come back, if its connection was lost: a number that is greater for those of
    /// later.
    pub suspended: Option<u64>,
    /// It is on another worker, which is about to stop and takes no new calls.
    pub draining: bool,
}

impl App {
    /// Whose it is, if it counts among the apps of this worker that have registered.
    pub fn counted(&self) -> Option<&Arc<str>> {
        let is_counted = self.registration.is_some() && self.seat != Seat::Elsewhere;
        let owner = self.identity.as_ref().filter(|_| is_counted);
        owner.map(|owner| &owner.name)
    }

    /// Nobody waits any more for what the app has to do for `owner`.
    pub fn give_up(&mut self, owner: &Arc<str>, bytes: usize) {
        match self.backlog {
            Backlog::Short => self.load.give_back(owner, bytes),
            // What was sent still waits to be written.
            Backlog::Long | Backlog::Full => self.load.leave(owner, bytes),
        }
    }
}

impl Broker {
    pub(super) fn app_joined(&mut self, peer: PeerId, identity: Option<Identity>, seat: Seat) {
        if self.turned_away(peer) {
            return;
        }
        // It counts when it has registered.
        let app = App {
            identity,
            id: None,
            registration: None,
            instance: None,
            bytes: 0,
            manifest: Arc::default(),
            agents: FxHashMap::default(),
            sessions: Places::default(),
            unbound: FxHashSet::default(),
            left_behind: LeftBehind::default(),
            load: Load::default(),
            backlog: Backlog::Short,
            seat,
            suspended: None,
            draining: false,
        };
        self.apps.insert(peer, app);
    }

    /// How many apps are this worker's.
    pub(super) fn apps_here(&self) -> usize {
        let here = |app: &&App| app.seat != Seat::Elsewhere;
        self.apps.values().filter(here).count()
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
                let error = Error::new(Code::NOT_INITIALIZED, "Send `app/register` first");
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
        let Some(agent) = app.agents.get(handle).copied() else {
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
        if !matches!(
            &content,
            Content::Answer(..) | Content::Failed(_) | Content::LateEnd(..)
        ) && self.has_left(agent)
        {
            // Progress, questions and notifications are for nobody.
            return;
        }
        match (&content, &*envelope.kind) {
            (Content::Withdrawn(id), _) => self.withdraw(peer, agent, id),
            (Content::Progress(operation), _) => {
                if let (Some(operation), Some(info)) = (operation, envelope.payload) {
                    if !self.note_progress(agent, operation, info) {
                        // Its call is over.
                        self.counters.strays_dropped += 1;
                        return;
                    }
                    if self.is_own(agent) && envelope.object().is_ok() {
                        let info = Json::keep(info, envelope.shared);
                        return self.own_progress(agent, operation, info);
                    }
                }
                self.tell(peer, agent, envelope, None);
            }
            (Content::LateEnd(call_id, end), _) => {
                let known = self.note_late_end(agent, call_id, *end);
                let is_stray = !known && self.has_left(agent);
                self.counters.strays_dropped += u64::from(is_stray);
                self.own_ended_late(agent, call_id, *end);
                self.tell(peer, agent, envelope, None);
            }
            (_, "notification") => self.tell(peer, agent, envelope, None),
            (_, "elicitation/request") => self.ask(peer, agent, envelope),
            (Content::Failed(error), _) => self.app_failed(peer, agent, envelope, error.as_ref()),
            (Content::Answer(request, said), _) => {
                self.app_answered(peer, agent, envelope, (*request, said));
            }
            _ => self.refuse_kind(peer, envelope),
        }
    }

    /// An app has sent what cannot be read. Those that wait for it are answered.
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
        // None of an app's messages has a typed answer that says no.
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
        // A session of the gateway's own was told what it heeds.
        if !self.agents.get(&agent).is_some_and(Agent::is_connected) {
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

    /// Passes a message on to the worker of an agent that has left. Whether it can be passed on.
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

    /// Whether an agent is a session of the gateway's own.
    fn is_own(&self, agent: PeerId) -> bool {
        let agent = self.agents.get(&agent);
        agent.is_some_and(|agent| agent.own.is_some())
    }

    /// A question needs no answer any more: it is forgotten and its agent told.
    fn withdraw(&mut self, peer: PeerId, from: PeerId, id: &str) {
        let Some(agent) = self.agents.get_mut(&from).filter(|it| it.app == Some(peer)) else {
            return;
        };
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

    /// Passes a question on to an agent under an id of the broker's own.
    fn ask(&mut self, peer: PeerId, to: PeerId, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id.filter(|_| envelope.object().is_ok()) else {
            let error = match envelope.object() {
                Err(error) => error,
                Ok(_) => invalid_at("id", "`id` is missing"),
            };
            return self.refuse(peer, &envelope.subject(), &error);
        };
        let issued = self.issue();
        let max = QUESTIONS.min(self.limits.in_flight);
        let owner = self.apps.get(&peer).and_then(|app| app.identity.as_ref());
        let asked = owner.map(|owner| self.asked.entry(owner.name.clone()).or_default());
        let (Some(agent), Some(asked)) = (self.agents.get_mut(&to), asked) else {
            return;
        };
        // Nobody is behind a session of the gateway's own who could be asked.
        if agent.own.is_some() {
            let error: Failure = Error::new(Code::NOT_SUPPORTED, "The agent takes no questions");
            let payload = json!({ "success": false, "error": error_json(&error) }).to_string();
            let handle = agent.handle.clone();
            let kind = "elicitation/response";
            return self.send_as(peer, kind, Some(id), Some(&handle), &payload);
        }
        // An agent need never answer: its oldest question makes room.
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
