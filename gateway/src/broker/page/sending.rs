//! What a session's state asks for: requests to the app, and ends of calls.

use serde_json::json;

use super::{Answer, Page};
use crate::broker::call::{CancelOutcome, Ended, Reply, Step, cancel_payload};
use crate::broker::message::Cancel;
use crate::broker::pending::{Asker, PageKey};
use crate::broker::requests::{About, Asked, Unsent};
use crate::broker::runs::{Ending, RunId};
use crate::broker::{Action, Broker, PeerId};
use crate::wire::{Json, Request};
use caphost::agent::{
    Action as StateAction, Outgoing, Request as StateRequest, RequestKey, Settled,
};
use caphost::call::{CallId, Code, Stop, StoppedBy};

impl Broker {
    /// Does what a session's state asks for, in order. Whether the session is over.
    pub(super) fn perform(&mut self, session: PeerId, page: &mut Page) -> bool {
        while let Some(action) = page.state.poll_action() {
            match action {
                StateAction::Wake if page.give_up.is_none() => {
                    page.state.flush(self.now.monotonic_ms);
                }
                StateAction::Wake => {}
                StateAction::Send(key, request) => self.page_send(session, page, key, request),
                StateAction::Settle(key, settled) => {
                    let Some((run, call_id)) = page.calls.remove(&key) else {
                        continue;
                    };
                    let abandoned = matches!(settled, Settled::Cancelled(Stop::Abandoned));
                    let by = self.stopped_by(session, run, &call_id);
                    self.page_settled(run, settled, by);
                    let over = match abandoned {
                        true => page.abandoned.insert(call_id.as_str().into(), run),
                        false => Some(run),
                    };
                    self.actions
                        .extend(over.map(|run| Action::CallOver { run }));
                }
                StateAction::SettleCancel(key, outcome) => {
                    let Some((cancel, run, call_id)) = page.cancels.remove(&key) else {
                        continue;
                    };
                    let by = self.stopped_by(session, run, &call_id);
                    let outcome = CancelOutcome::of(outcome, by, |error| match error {
                        Ok(error) => error,
                        Err(found) => Reply::Failed(found.retype()),
                    });
                    self.actions
                        .push_back(Action::CancelAnswered { cancel, outcome });
                }
                StateAction::Progress(key, Reply::Json(info)) => {
                    if let Some((run, _)) = page.calls.get(&key) {
                        let (run, step) = (*run, Step::Progress(info));
                        self.actions.push_back(Action::Call { run, step });
                    }
                }
                StateAction::Progress(..) => {}
                StateAction::Closed(_) => return true,
            }
        }
        false
    }

    /// Sends what the state wants sent.
    fn page_send(
        &mut self,
        session: PeerId,
        page: &mut Page,
        key: RequestKey,
        request: StateRequest<Reply>,
    ) {
        let key_of = |request| (PageKey::Request(key), request);
        match request {
            StateRequest::Call(Outgoing { id, params, .. }) => {
                let run = page.calls.get(&key).map(|(run, _)| *run);
                let (Some(run), Some(Reply::Json(payload))) = (run, params) else {
                    return;
                };
                let key = key_of(Request::Call);
                let about = About::OwnCall(run, id);
                self.page_request(session, page, key, &payload, about);
            }
            StateRequest::Cancel { call, reason } => {
                let payload = cancel_payload(call.as_str(), reason.as_deref()).into();
                let about = About::Cancel(Cancel {
                    call_id: Some(call.as_str().into()),
                    reason: reason.map(Into::into),
                });
                let key = key_of(Request::Cancel);
                self.page_request(session, page, key, &payload, about);
            }
            StateRequest::Shutdown { .. } => {
                let key = key_of(Request::Shutdown);
                let nothing = Json::from("{}".to_string());
                self.page_request(session, page, key, &nothing, About::Nothing);
            }
        }
    }

    pub(super) fn page_request(
        &mut self,
        session: PeerId,
        page: &mut Page,
        (key, request): (PageKey, Request),
        payload: &Json,
        about: About<'_>,
    ) {
        let call_id = match &about {
            About::Cancel(Cancel { call_id, .. }) => Some(json!(call_id).to_string()),
            _ => None,
        };
        let asked = Asked {
            request,
            asker: Asker::Page(key),
            payload: payload.as_str(),
            shared: Some(payload.shared()),
            timestamp: None,
            call_id: call_id.as_deref(),
            about,
        };
        match self.request(session, asked) {
            Ok(()) => {}
            Err(Unsent::Skipped) => self.page_heard(page, (key, request), Answer::NeverStarted),
            Err(Unsent::Refused(error)) => {
                self.page_heard(page, (key, request), Answer::Failed(&error, None));
            }
        }
    }

    /// Settles a call that never went to the app.
    pub(super) fn page_unsent(&mut self, run: RunId, settled: Settled<Reply>) {
        self.page_settled(run, settled, None);
        self.actions.push_back(Action::CallOver { run });
    }

    fn page_settled(&mut self, run: RunId, settled: Settled<Reply>, by: Option<StoppedBy>) {
        let ended = match settled {
            Settled::Response(Reply::Json(response)) => Ended::Response(response),
            Settled::Response(Reply::Failed(error)) => Ended::Failed(error),
            Settled::Failed(error) => Ended::Failed(error.retype()),
            Settled::Cancelled(stop) => Ended::Cancelled {
                stop,
                by,
                reason: None,
            },
        };
        let now = self.now.unix_ms;
        let ended = match ended {
            // An answer of the app has ended the run.
            Ended::Response(response) => Ended::Response(response),
            Ended::Failed(error) => {
                let code = error.code.as_str().to_string();
                self.runs.end(run, failed_ending(Some(code)), now);
                // A confirmed cancel stays true, no matter who asked for it.
                match self.runs.get(run).and_then(|run| run.grade()) {
                    Some(grade) => self.stopped(run, grade.stop, grade.by),
                    None => Ended::Failed(error),
                }
            }
            Ended::Cancelled { stop, by, .. } => {
                self.runs.end(run, Ending::Cancelled(stop, by), now);
                self.stopped(run, stop, by)
            }
        };
        let step = Step::Ended(ended);
        self.actions.push_back(Action::Call { run, step });
    }

    fn stopped(&self, run: RunId, stop: Stop, by: Option<StoppedBy>) -> Ended {
        let known = self.runs.get(run);
        let reason = known.and_then(|run| run.cancel_reason.clone());
        // An operator may have been told before.
        let by = by.or(known.and_then(|run| run.by));
        Ended::Cancelled { stop, by, reason }
    }

    /// What has stopped a call of a session, as far as the app has said.
    fn stopped_by(&self, session: PeerId, run: RunId, call_id: &CallId) -> Option<StoppedBy> {
        let agent = self.agents.get(&session);
        let told = agent.and_then(|agent| agent.stopped.by(call_id.as_str(), run));
        told.or_else(|| self.runs.get(run)?.by)
    }
}

/// How a run ends whose call has failed with that code.
pub(super) fn failed_ending(code: Option<String>) -> Ending {
    let code = code.unwrap_or_else(|| Code::OPERATION_FAILED.as_str().into());
    match Code::leaves_open(&code) {
        true => Ending::Unknown(code),
        false => Ending::Failed(code),
    }
}
