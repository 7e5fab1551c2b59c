//! An app's answer, on its way back to the agent.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::pending::{Entry, read_issued};
use super::{Action, PeerId, Relay};
use crate::wire::{
    Envelope, Failure, Header, Outgoing, Request, Subject, cancel_not_confirmed, failed,
};
use caphost::call::{Code, Error};

impl Relay {
    pub(super) fn app_answered(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
    ) {
        let Some(entry) = self.settle(peer, agent, envelope.id, |it| it == request) else {
            return;
        };
        let payload = match envelope.object() {
            Ok(payload) => payload,
            Err(error) => {
                self.answer_lost(&entry, &error);
                return self.refuse(
                    peer,
                    &Subject {
                        kind: None,
                        ..envelope.subject()
                    },
                    &error,
                );
            }
        };
        let payload = self.graded(&entry, payload);
        self.run_answered(&entry, &payload);
        if entry.revokes.is_some() {
            return;
        }
        // One that was added to no longer lies in the buffer it came in.
        let shared = envelope
            .shared
            .filter(|_| matches!(payload, Cow::Borrowed(_)));
        let header = Header {
            kind: request.answer(),
            id: entry.id.as_deref(),
            agent: None,
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        let message = Outgoing::new(header, &payload, shared);
        self.actions.push_back(Action::Send {
            peer: agent,
            message,
        });
    }

    /// The app did not understand a request passed on to it: its agent gets the typed answer.
    pub(super) fn app_failed(&mut self, peer: PeerId, agent: PeerId, envelope: &Envelope<'_>) {
        #[derive(Deserialize)]
        struct Failure<'a> {
            #[serde(borrow)]
            error: &'a RawValue,
        }
        let Some(entry) = self.settle(peer, agent, envelope.id, |_| true) else {
            return;
        };
        let failure = envelope.object().ok();
        let failure = failure.and_then(|text| serde_json::from_str::<Failure>(text).ok());
        let Some(Failure { error }) = failure else {
            let error = Error::invalid_params("an `error` without an error");
            return self.answer_lost(&entry, &error);
        };
        let payload = match entry.request {
            Request::Initialize => format!(r#"{{"error":{error}}}"#),
            Request::Cancel => {
                let call_id = entry.call_id.as_deref().unwrap_or("null");
                format!(r#"{{"callId":{call_id},"cancelled":false,"error":{error}}}"#)
            }
            _ => format!(r#"{{"success":false,"error":{error}}}"#),
        };
        self.run_answered(&entry, &payload);
        if entry.revokes.is_none() {
            self.send(agent, entry.request.answer(), entry.id.as_deref(), &payload);
        }
    }

    /// Settles the request whose answer cannot be read, if it is known which one.
    pub(super) fn answer_unreadable(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        subject: &Subject,
        error: &Failure,
    ) {
        let Some(request) = subject.kind.as_deref().and_then(Request::answered_by) else {
            return;
        };
        if let Some(entry) = self.settle(peer, agent, subject.id.as_deref(), |it| it == request) {
            self.answer_lost(&entry, error);
        }
    }

    fn settle(
        &mut self,
        app: PeerId,
        agent: PeerId,
        id: Option<&str>,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let issued = id.and_then(read_issued);
        let found = issued.and_then(|issued| {
            let entry = self.pending.take(issued, agent, app, answers)?;
            Some((issued, entry))
        });
        let Some((issued, entry)) = found else {
            self.counters.answers_dropped += 1;
            return None;
        };
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.forget(issued, &entry);
        }
        Some(entry)
    }

    /// The app has answered, and its answer cannot be passed on: the outcome is unknown.
    fn answer_lost(&mut self, entry: &Entry, cause: &Failure) {
        let message = format!("The app's answer could not be relayed: {}", cause.message);
        let error = Error::new(Code::TRANSPORT_ERROR, message);
        self.fail(entry, "The app's confirmation could not be relayed", &error);
    }

    /// Answers a pending request in the app's stead.
    pub(super) fn fail(&mut self, entry: &Entry, cancel_reason: &str, error: &Failure) {
        self.run_lost(entry, cancel_reason, error);
        if entry.revokes.is_some() {
            return;
        }
        let subject = entry.subject();
        let (kind, payload) = match entry.request {
            Request::Cancel => {
                let payload = cancel_not_confirmed(&subject, cancel_reason, error);
                (Request::Cancel.answer(), payload)
            }
            _ => failed(&subject, error),
        };
        self.send(entry.agent, kind, entry.id.as_deref(), &payload);
    }
}
