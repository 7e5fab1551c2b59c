//! An app's answer, on its way back to the agent.

use super::agents::Agent;
use super::page::Answer;
use super::pending::{Asker, Entry, read_issued};
use super::{Action, Broker, PeerId};
use crate::wire::{
    Envelope, Failure, Header, Json, Outgoing, Request, Said, Subject, cancel_not_confirmed,
    failed, said,
};
use caphost::call::{Code, Error, Stop};

impl Broker {
    pub(super) fn app_answered(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        envelope: &Envelope<'_>,
        (request, said): (Request, &Said<'_>),
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
        let grade = self.grade(&entry, said);
        self.run_answered(&entry, said, grade);
        let id = match entry.asker {
            Asker::Agent(id) => id,
            Asker::Page(key) => {
                let payload = Json::keep(payload, envelope.shared);
                let answer = Answer::Said(said, payload, grade);
                return self.page_answered(agent, (key, request), answer);
            }
            Asker::Revoker(_) => return,
        };
        let header = Header {
            kind: request.answer(),
            id: id.as_deref(),
            agent: None,
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        let graded = said.cancelled
            && matches!(request, Request::Call | Request::Cancel)
            && (said.stop, said.ended) != (Some(grade.0), grade.1);
        let here = self.agents.get(&agent).is_some_and(Agent::is_here);
        let message = match graded && here {
            true => Outgoing::graded(header, Json::keep(payload, envelope.shared), grade),
            false => Outgoing::new(header, payload, envelope.shared),
        };
        self.actions.push_back(Action::Send {
            peer: agent,
            message,
        });
    }

    /// The app did not understand a request passed on to it: its agent gets the typed answer.
    pub(super) fn app_failed(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        envelope: &Envelope<'_>,
        error: Option<&str>,
    ) {
        let Some(entry) = self.settle(peer, agent, envelope.id, |_| true) else {
            return;
        };
        let Some(error) = error.filter(|_| envelope.object().is_ok()) else {
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
        self.run_answered(&entry, &said(&payload), (Stop::Abandoned, None));
        match entry.asker {
            Asker::Agent(id) => self.send(agent, entry.request.answer(), id.as_deref(), &payload),
            Asker::Page(key) => {
                self.page_answered(agent, (key, entry.request), Answer::Error(error));
            }
            Asker::Revoker(_) => {}
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
        let id = match &entry.asker {
            Asker::Agent(id) => id.as_deref(),
            Asker::Page(key) => {
                let answer = Answer::Failed(error, Some(cancel_reason));
                return self.page_answered(entry.agent, (*key, entry.request), answer);
            }
            Asker::Revoker(_) => return,
        };
        let subject = entry.subject(id);
        let (kind, payload) = match entry.request {
            Request::Cancel => {
                let payload = cancel_not_confirmed(&subject, cancel_reason, error);
                (Request::Cancel.answer(), payload)
            }
            _ => failed(&subject, error),
        };
        self.send(entry.agent, kind, id, &payload);
    }
}
