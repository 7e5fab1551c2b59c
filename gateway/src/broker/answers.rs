//! The app's answers, on their way to the agent, and the runs that they end.

use super::calls::outcome::ANSWERED_WITH_ERROR;
use super::calls::{AbpError, CallEvent, Ending, Lost, Outcome};
use super::sessions::Agent;
use super::sessions::pending::{AnswerTo, Entry, read_issued};
use super::{Action, Broker, PeerId};
use crate::wire::stops::Grade;
use crate::wire::{
    Envelope, Failure, Header, Json, Outgoing, Request, Said, Subject, cancel_not_confirmed, failed,
};
use caphost::call::{Code, Error, Stop};

/// Why the app will never answer a request.
#[derive(Clone, Copy)]
pub(super) struct Loss {
    /// The reason given to cancels.
    pub reason: &'static str,
    /// Who went away, if somebody has.
    pub who: Option<Lost>,
}

/// The payload of the answer to that request. An error if the answer cannot be read, or does not say which
/// call it is for.
fn readable<'a>(
    entry: &Entry,
    envelope: &Envelope<'a>,
    said: &Said<'_>,
) -> Result<&'a str, Failure> {
    let payload = envelope.object()?;
    if let Some(why) = said.unreadable {
        return Err(Error::invalid_params(why));
    }
    if entry.request == Request::Cancel
        && let Some(call_id) = entry.call_id.as_deref()
        && said.is_of_another(call_id)
    {
        let what = "`callId` of a CancelResponse must be that of the cancel";
        return Err(Error::invalid_params(what));
    }
    Ok(payload)
}

impl Broker {
    pub(super) fn app_answered(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        envelope: &Envelope<'_>,
        (request, said): (Request, &Said<'_>),
    ) {
        let Some(mut entry) = self.settle(peer, agent, envelope.id, |it| it == request) else {
            return;
        };
        let payload = match readable(&entry, envelope, said) {
            Ok(payload) => payload,
            Err(error) => {
                self.answer_lost(agent, &mut entry, &error);
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
        let grade = self.grade(agent, &entry, said);
        let (payload, shared) = match said.mended.as_deref() {
            Some(mended) => (mended, None),
            None => (payload, envelope.shared),
        };
        self.run_answered(agent, &mut entry, (said, grade), || {
            Outcome::of(said, envelope.shared)
        });
        if self.told_otherwise(agent, &entry, said.cancelled) {
            return;
        }
        match entry.answer_to {
            AnswerTo::Askers(_) => {}
            AnswerTo::Session => {
                let has_error = said.error.is_some();
                let error = has_error.then(|| AbpError::said(said, envelope.shared));
                return self.internal_answered(agent, &entry, error);
            }
            AnswerTo::Nobody => return,
        }
        let graded = said.cancelled
            && matches!(request, Request::Call | Request::Cancel)
            && !said.says(grade);
        let known = self.sessions.get(&agent);
        let (here, gone) = (known.is_some_and(Agent::is_here), known.is_none());
        for id in entry.answer_to.ids() {
            let header = Header {
                kind: request.answer(),
                id,
                agent: None,
                timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
            };
            let message = match graded && here {
                true => Outgoing::graded(header, Json::keep(payload, shared), grade),
                false => Outgoing::new(header, payload, shared),
            };
            self.actions.push_back(match gone {
                true => Action::Left { agent, message },
                false => Action::Send {
                    peer: agent,
                    message,
                },
            });
        }
    }

    /// The app did not understand a request. Its agent gets the typed answer.
    pub(super) fn app_failed(
        &mut self,
        peer: PeerId,
        agent: PeerId,
        envelope: &Envelope<'_>,
        said: Option<&Said<'_>>,
    ) {
        let Some(mut entry) = self.settle(peer, agent, envelope.id, |_| true) else {
            return;
        };
        let said = said.filter(|_| envelope.object().is_ok());
        let Some((said, error)) = said.and_then(|it| Some((it, it.error.as_deref()?))) else {
            let error = Error::invalid_params("an `error` without an error");
            return self.answer_lost(agent, &mut entry, &error);
        };
        let payload = match entry.request {
            Request::Initialize | Request::List => format!(r#"{{"error":{error}}}"#),
            Request::Cancel => {
                let call_id = entry.call_id.as_deref().unwrap_or("null");
                format!(
                    r#"{{"callId":{call_id},"cancelled":false,"reason":"{ANSWERED_WITH_ERROR}","error":{error}}}"#
                )
            }
            _ => format!(r#"{{"success":false,"error":{error}}}"#),
        };
        let nothing = Stop::Abandoned.into();
        let failed = || AbpError::said(said, envelope.shared);
        self.run_answered(agent, &mut entry, (said, nothing), || {
            Outcome::Failed(failed())
        });
        if self.told_otherwise(agent, &entry, false) {
            return;
        }
        match entry.answer_to {
            AnswerTo::Askers(_) => self.answer_all(agent, &entry, &payload),
            AnswerTo::Session => self.internal_answered(agent, &entry, Some(failed())),
            AnswerTo::Nobody => {}
        }
    }

    /// Settles a request whose answer cannot be read, if the request is known.
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
        if let Some(mut entry) = self.settle(peer, agent, subject.id.as_deref(), |it| it == request)
        {
            self.answer_lost(agent, &mut entry, error);
        }
    }

    /// Removes the request of `agent` that has that id with that app.
    fn settle(
        &mut self,
        app: PeerId,
        agent: PeerId,
        id: Option<&str>,
        answers: impl Fn(Request) -> bool,
    ) -> Option<Entry> {
        let bound = self
            .sessions
            .get(&agent)
            .is_some_and(|it| it.app == Some(app));
        let issued = id.and_then(read_issued).filter(|_| bound);
        let entry = issued.and_then(|issued| self.sessions.take(agent, issued, &answers));
        if let (Some(entry), Some(app)) = (&entry, self.apps.get_mut(&app))
            && let Some(agent) = self.sessions.get(&agent)
        {
            app.load.give_back(&agent.profile.owner.name, entry.bytes);
        }
        // Of a request that is given up, the answer still counts for the run.
        let entry = entry.or_else(|| self.apps.get_mut(&app)?.given_up.take(id, answers));
        self.counters.answers_dropped += u64::from(entry.is_none());
        entry
    }

    /// The app has answered, but the answer cannot be passed on. The outcome is unknown.
    fn answer_lost(&mut self, agent: PeerId, entry: &mut Entry, cause: &Failure) {
        let message = format!("The app's answer could not be relayed: {}", cause.message);
        let error = Error::new(Code::TRANSPORT_ERROR, message);
        let loss = Loss {
            reason: "The app's confirmation could not be relayed",
            who: None,
        };
        self.fail(agent, entry, loss, &error);
    }

    /// Stops waiting for the answer to a request. A late answer may still settle its run. Returns who waited.
    pub(super) fn give_up(&mut self, peer: PeerId, issued: u64) -> Option<Entry> {
        let mut entry = self.sessions.take(peer, issued, |_| true)?;
        let agent = self.sessions.get(&peer)?;
        let owner = &agent.profile.owner.name;
        if let Some(app) = agent.app.and_then(|app| self.apps.get_mut(&app)) {
            app.give_up(owner, entry.bytes);
            app.given_up.keep(peer, &mut entry, agent.profile.seat);
        }
        Some(entry)
    }

    /// Answers a pending request in place of the app, which is lost or does not answer.
    pub(super) fn fail(&mut self, agent: PeerId, entry: &mut Entry, loss: Loss, error: &Failure) {
        self.run_lost(agent, entry, loss, error);
        if self.told_otherwise(agent, entry, false) {
            return;
        }
        match &entry.answer_to {
            AnswerTo::Askers(_) => {}
            AnswerTo::Session => {
                return self.internal_answered(agent, entry, Some(error.into()));
            }
            AnswerTo::Nobody => return,
        }
        for id in entry.answer_to.ids() {
            let subject = entry.subject(id);
            let (kind, payload) = match entry.request {
                Request::Cancel => {
                    let payload = cancel_not_confirmed(&subject, loss.reason, error);
                    (Request::Cancel.answer(), payload)
                }
                _ => failed(&subject, error),
            };
            self.send(agent, kind, id, &payload);
        }
    }

    /// Sends the answer of a request to its agent, and of whatever has joined it.
    pub(super) fn answer_all(&mut self, agent: PeerId, entry: &Entry, payload: &str) {
        for id in entry.answer_to.ids() {
            self.send(agent, entry.request.answer(), id, payload);
        }
    }

    /// Notes the app's answer to a call or a cancel. `grade` says how far the app has seen the stop. `outcome`
    /// is for a caller of the gateway itself.
    fn run_answered(
        &mut self,
        agent: PeerId,
        entry: &mut Entry,
        (said, grade): (&Said<'_>, Grade),
        outcome: impl FnOnce() -> Outcome,
    ) {
        match (entry.run, entry.request) {
            (Some(run), Request::Cancel) => self.cancel_answered(agent, run, entry, (said, grade)),
            (None, _) => {}
            (Some(run), _) => {
                let ending = self.ending_of_answer(agent, said, grade);
                self.run_over(run, ending, outcome);
            }
        }
        // The late end may have come before the end of the run.
        if said.cancelled
            && let (Some(run), Some(end)) = (entry.run, grade.late_end)
        {
            self.calls.ended_late(run, end);
        }
    }

    /// Notes that a call or a cancel will never be answered.
    pub(super) fn run_lost(
        &mut self,
        agent: PeerId,
        entry: &mut Entry,
        loss: Loss,
        error: &Failure,
    ) {
        match (entry.run, entry.request) {
            (None, _) => {}
            (Some(run), Request::Cancel) => {
                self.cancel_lost(agent, run, entry, (loss.reason, error));
            }
            (Some(run), _) => {
                let unknown = || Ending::Unknown(error.code.as_str().to_string());
                let ending = loss.who.map_or_else(unknown, Ending::Lost);
                self.run_over(run, ending, || Outcome::Failed(error.into()));
            }
        }
    }

    /// Notes the progress of a call, and tells a front that has made the call. Returns whether the agent has a
    /// call with that token, which only the worker of the agent knows.
    pub(super) fn note_progress(
        &mut self,
        agent: PeerId,
        operation: &str,
        envelope: &Envelope<'_>,
    ) -> bool {
        let here = self.sessions.get(&agent).is_some_and(Agent::is_here);
        let Some(info) = envelope.payload.filter(|_| here) else {
            return true;
        };
        let Some(run) = self.calls.with_token(agent, operation) else {
            return false;
        };
        if let Some(sink) = self.calls.progress(run, info)
            && envelope.object().is_ok()
        {
            sink.push(CallEvent::Progress(Json::keep(info, envelope.shared)));
        }
        true
    }
}
