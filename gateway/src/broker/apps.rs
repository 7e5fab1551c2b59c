//! Apps: what each may send.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::manifest::Registration;
use super::pending::issued_id;
use super::stops::LeftBehind;
use super::{Action, PeerId, Relay, Seat};
use crate::tokens::Identity;
use crate::wire::abp::ELICITATION_WITHDRAWN;
use crate::wire::{Envelope, Header, Outgoing, Refusal, Request, Subject};
use caphost::call::{Code, Error};

/// One app's connection.
pub(super) struct App {
    /// Who it is, if it has shown a token or needs none.
    pub identity: Option<Identity>,
    /// What it is called by, once it has registered.
    pub id: Option<Arc<str>>,
    /// What it offers, once it has registered.
    pub registration: Option<Arc<Registration>>,
    /// The agents bound to it, by their names on its wire.
    pub agents: HashMap<String, PeerId>,
    /// Calls of agents that have left it, which it may still work on.
    pub left_behind: LeftBehind,
    /// Whether much waits to be written to it.
    pub congested: bool,
    /// Where it is.
    pub seat: Seat,
    /// Whether its connection was lost, and it may come back.
    pub suspended: bool,
}

impl Relay {
    pub(super) fn app_joined(&mut self, peer: PeerId, identity: Option<Identity>, seat: Seat) {
        // Those on other workers are bounded there, and one that is coming back must find room.
        let count = match seat {
            Seat::Elsewhere => 0,
            _ => {
                let suspended = self.apps.values().filter(|app| app.suspended).count();
                self.apps_here() - suspended
            }
        };
        if self.turned_away(peer, count, self.limits.apps, "apps") {
            return;
        }
        let app = App {
            identity,
            id: None,
            registration: None,
            agents: HashMap::new(),
            left_behind: LeftBehind::default(),
            congested: false,
            seat,
            suspended: false,
        };
        self.apps.insert(peer, app);
    }

    /// How many apps are this worker's.
    pub(super) fn apps_here(&self) -> usize {
        let here = |app: &&App| app.seat != Seat::Elsewhere;
        self.apps.values().filter(here).count()
    }

    pub(super) fn app_message(&mut self, peer: PeerId, envelope: &Envelope<'_>) {
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        let registered = app.registration.is_some();
        match &*envelope.kind {
            "app/register" => return self.register(peer, envelope),
            "error" if envelope.agent.is_none() => return,
            _ if !registered => {
                let error = Error::new(Code::NOT_INITIALIZED, "Send `app/register` first");
                return self.refuse(peer, &envelope.subject(), &error);
            }
            "app/update" => return self.update(peer, envelope),
            _ => {}
        }
        let Some(handle) = envelope.agent.as_deref() else {
            if !is_for_an_agent(&envelope.kind) {
                return self.refuse_kind(peer, envelope);
            }
            let error = Error::invalid_params("`agent` is missing");
            let error = error.with_details(Box::new(json!({ "path": "agent" })));
            return self.refuse(peer, &envelope.subject(), &error);
        };
        let Some(agent) = app.agents.get(handle).copied() else {
            if !self.note_ended_of_left(peer, handle, envelope) {
                self.counters.strays_dropped += 1;
            }
            return;
        };
        match &*envelope.kind {
            "notification" if self.withdraws(peer, agent, envelope) => {}
            "progress" => {
                self.note_progress(agent, envelope);
                self.tell(peer, agent, envelope, None);
            }
            "notification" => {
                self.note_ended(agent, envelope);
                self.tell(peer, agent, envelope, None);
            }
            "elicitation/request" => self.ask(peer, agent, envelope),
            "error" => self.app_failed(peer, agent, envelope),
            kind => match Request::answered_by(kind) {
                Some(request) => self.app_answered(peer, agent, envelope, request),
                None => self.refuse_kind(peer, envelope),
            },
        }
    }

    /// An app has sent what cannot be read. Whoever waits for it is not left waiting.
    pub(super) fn app_refused(&mut self, peer: PeerId, refusal: Refusal) {
        let Some(app) = self.apps.get(&peer) else {
            return;
        };
        let Refusal { subject, error } = refusal;
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

    /// Passes a message on to an agent, under the relay's id or none.
    fn tell(&mut self, peer: PeerId, agent: PeerId, envelope: &Envelope<'_>, id: Option<&str>) {
        let payload = match envelope.object() {
            Ok(payload) => payload,
            Err(error) => return self.refuse(peer, &envelope.subject(), &error),
        };
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

    /// Whether this notification withdraws a question, which is then forgotten and its agent told.
    fn withdraws(&mut self, peer: PeerId, from: PeerId, envelope: &Envelope<'_>) -> bool {
        let payload = envelope
            .payload
            .filter(|it| it.len() <= MAX_WITHDRAWAL_BYTES);
        let read = payload.and_then(|it| serde_json::from_str::<Notification>(it).ok());
        let Some(Notification {
            event,
            data: Some(Withdrawn { id }),
        }) = read
        else {
            return false;
        };
        if event != ELICITATION_WITHDRAWN {
            return false;
        }
        let Some(agent) = self.agents.get_mut(&from).filter(|it| it.app == Some(peer)) else {
            return true;
        };
        let asked = agent.questions.iter().find(|(_, asked)| *asked == id.get());
        match asked.map(|(issued, _)| *issued) {
            Some(issued) => {
                agent.questions.remove(&issued);
                let data = format!(r#"{{"id":{}}}"#, issued_id(issued));
                let payload = format!(r#"{{"event":"{ELICITATION_WITHDRAWN}","data":{data}}}"#);
                self.send(from, "notification", None, &payload);
            }
            None => self.counters.strays_dropped += 1,
        }
        true
    }

    /// Passes a question on to an agent under an id of the relay's own.
    fn ask(&mut self, peer: PeerId, to: PeerId, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id.filter(|_| envelope.object().is_ok()) else {
            let error = match envelope.object() {
                Err(error) => error,
                Ok(_) => Error::invalid_params("`id` is missing")
                    .with_details(Box::new(json!({ "path": "id" }))),
            };
            return self.refuse(peer, &envelope.subject(), &error);
        };
        let issued = self.issue();
        let max = self.limits.in_flight;
        let Some(agent) = self.agents.get_mut(&to) else {
            return;
        };
        // An agent need never answer: the oldest question makes room.
        if agent.questions.len() >= max {
            agent.questions.pop_first();
        }
        agent.questions.insert(issued, id.to_string());
        self.tell(peer, to, envelope, Some(&issued_id(issued)));
    }
}

/// A `notification` that a question needs no answer any more names the question: by the app's id on
/// the app's wire, by the relay's on the agent's.
#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<Withdrawn<'a>>,
}

#[derive(Deserialize)]
struct Withdrawn<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
}

/// No withdrawal is longer.
const MAX_WITHDRAWAL_BYTES: usize = 1_024;

fn is_for_an_agent(kind: &str) -> bool {
    matches!(kind, "notification" | "progress" | "elicitation/request")
        || Request::answered_by(kind).is_some()
}
