//! Apps: what each offers, and what each may send.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;

use super::agents::Agent;
use super::amount::Amount;
use super::given_up::GivenUp;
use super::instance::Instance;
use super::load::Load;
use super::message::Content;
use super::offer::Offer;
use super::offers::Directory;
use super::pending::IssuedId;
use super::questions::{QUESTIONS, QuestionBytes};
use super::registered::Registered;
use super::stops::LeftBehind;
use super::{Action, Backlog, Broker, Message, PeerId, Seat};
use crate::places::Places;
use crate::tokens::Identity;
use crate::wire::abp::{ELICITATION_WITHDRAWN, kind};
use crate::wire::{
    Envelope, Failure, Header, Outgoing, RefusedMessage, Request, Subject, error_json, invalid_at,
};
use caphost::call::{Code, Error};

/// The connection of one app.
pub(super) struct App {
    /// The identity of the app, if it has shown a token or needs none.
    pub identity: Option<Identity>,
    /// The id of the app, once it has registered.
    pub id: Option<Arc<str>>,
    /// What the app offers, once it has registered.
    pub registration: Option<Arc<Offer>>,
    /// The size of the registration.
    pub bytes: usize,
    /// Which connection of the app this is, once it has registered.
    pub instance: Option<Instance>,
    /// The app's `/abp.json`, once somebody has asked for it.
    pub manifest: Arc<OnceLock<Bytes>>,
    /// The agents bound to the app, by the names that the broker has given them. Agents that have left stay
    /// until the app is told.
    pub agents: FxHashMap<String, PeerId>,
    /// How many sessions of the app each owner has.
    pub sessions: Places<Arc<str>>,
    /// Agents of other workers that are not bound to the app yet.
    pub unbound: FxHashSet<PeerId>,
    /// Calls of agents that have left the app, which may still work on them.
    pub left_behind: LeftBehind,
    /// Requests that nobody waits for any more, and that the app has not answered.
    pub given_up: GivenUp,
    /// The work that agents have given to the app.
    pub load: Load,
    /// How much waits to be written to the app.
    pub backlog: Backlog,
    /// Where the app is connected.
    pub seat: Seat,
    /// Set while the connection is lost and the app may come back. The number rises with each loss.
    pub suspended: Option<u64>,
    /// The app is on another worker that is about to stop and takes no new calls.
    pub draining: bool,
}

impl App {
    /// The owner, if the app counts among the registered apps of this worker.
    pub fn counted(&self) -> Option<&Arc<str>> {
        let is_counted = self.registration.is_some() && self.seat != Seat::Elsewhere;
        let owner = self.identity.as_ref().filter(|_| is_counted);
        owner.map(|owner| &owner.name)
    }

    /// Work of that size for `owner` is no longer waited for.
    pub fn give_up(&mut self, owner: &Arc<str>, bytes: usize) {
        match self.backlog {
            Backlog::Short => self.load.give_back(owner, bytes),
            // The messages sent still wait to be written.
            Backlog::Long | Backlog::Full => self.load.leave(owner, bytes),
        }
    }
}

/// The connected apps.
#[derive(Default)]
pub struct Apps {
    /// Ordered by connection: of two apps with the same id, the later is the more recent.
    pub(super) all: BTreeMap<PeerId, App>,
    pub(super) directory: Directory,
    pub(super) registered: Registered,
    /// The size of questions, by the names of the owners of the asking apps.
    pub(super) asked: FxHashMap<Arc<str>, QuestionBytes>,
    /// The gateway is stopping or about to stop, and takes no new peers and calls.
    pub(super) stopping: bool,
    /// This worker is cut off: apps of other workers, if there are any, are not known.
    pub(super) cut_off: bool,
}

impl Apps {
    pub(super) fn get(&self, peer: &PeerId) -> Option<&App> {
        self.all.get(peer)
    }

    pub(super) fn get_mut(&mut self, peer: &PeerId) -> Option<&mut App> {
        self.all.get_mut(peer)
    }

    /// The owner of the registration, if the peer is a registered app.
    pub fn registered_by(&self, peer: PeerId) -> Option<&Identity> {
        let app = self.get(&peer)?;
        app.identity.as_ref().filter(|_| app.registration.is_some())
    }

    /// Gives back everything that an app has registered.
    pub(super) fn unregister(&mut self, peer: PeerId, app: &App) {
        if let Some(owner) = app.counted() {
            self.registered.give_back(owner, Amount::one(app.bytes));
        }
        if let Some(id) = &app.id {
            self.unlisted(peer, id.clone(), app.seat);
        }
    }

    /// Whether the worker of an app is about to stop, be it this worker or another.
    pub(super) fn drains(&self, app: &App) -> bool {
        app.draining || (self.stopping && app.seat != Seat::Elsewhere)
    }

    /// Whether new calls of that app are accepted, both here and on the app's worker.
    pub(super) fn takes_calls(&self, app: PeerId) -> bool {
        let app = self.get(&app);
        !self.stopping && !app.is_some_and(|app| app.draining)
    }

    /// How many apps this worker has.
    pub(super) fn here(&self) -> usize {
        let here = |app: &&App| app.seat != Seat::Elsewhere;
        self.all.values().filter(here).count()
    }

    /// Whether an app is inside the gateway.
    pub(super) fn is_inside(&self, app: PeerId) -> bool {
        let app = self.get(&app);
        app.is_some_and(|app| app.seat == Seat::Own)
    }
}

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
            sessions: Places::default(),
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
            (Content::Failed(error), _) => self.app_failed(peer, agent, envelope, error.as_ref()),
            (Content::Answer(request, said), _) => {
                self.app_answered(peer, agent, envelope, (*request, said));
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
        let issued = self.issue();
        let max = QUESTIONS.min(self.limits.in_flight);
        let owner = self.apps.get(&peer).and_then(|app| app.identity.clone());
        let asked = owner.map(|owner| self.apps.asked.entry(owner.name).or_default());
        let (Some(agent), Some(asked)) = (self.sessions.get_mut(&to), asked) else {
            return;
        };
        // Nobody stands behind a session of the gateway itself who could be asked.
        if agent.own.is_some() {
            let error: Failure = Error::new(Code::NOT_SUPPORTED, "The agent takes no questions");
            let payload = json!({ "success": false, "error": error_json(&error) }).to_string();
            let handle = agent.handle.clone();
            return self.send_as(
                peer,
                kind::ELICITATION_RESPONSE,
                Some(id),
                Some(&handle),
                &payload,
            );
        }
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
