//! What the app has answered, or the gateway in its stead.

use super::Page;
use super::sending::failed_ending;
use crate::broker::Broker;
use crate::broker::call::Reply;
use crate::broker::pending::PageKey;
use crate::wire::abp::says_no_session;
use crate::wire::stops::Grade;
use crate::wire::{Failure, Json, Request, Said};
use caphost::agent::{AgentState, RequestKey, Settled};
use caphost::call::{Code, Stop};

impl Broker {
    pub(super) fn page_heard(
        &mut self,
        page: &mut Page,
        (key, request): (PageKey, Request),
        answer: Answer<'_>,
    ) {
        let PageKey::Request(key) = key else {
            return self.page_opened(page, answer);
        };
        match request {
            Request::Call => page.called(key, answer),
            Request::Cancel => page.cancelled(key, answer),
            Request::Initialize | Request::List | Request::Shutdown => page.state.shut_down(),
        }
    }

    /// The app has answered `initialize`.
    fn page_opened(&mut self, page: &mut Page, answer: Answer<'_>) {
        let code = match answer {
            Answer::Said(said, ..) | Answer::Error(_, said) => said.code.as_deref(),
            Answer::Failed(..) | Answer::NeverStarted => None,
        };
        let error = match answer {
            Answer::Said(said, ..) => said.error.map(|error| Reply::Json(Json::keep(error, None))),
            Answer::Error(error, _) => Some(Reply::Json(Json::keep(error, None))),
            Answer::Failed(error, _) => Some(Reply::Failed(error.clone())),
            Answer::NeverStarted => None,
        };
        match error {
            Some(error) => self.page_refused(page, error, code),
            None => {
                page.give_up = None;
                page.state.flush(self.now.monotonic_ms);
            }
        }
    }

    /// There will be no session: its calls fail with that error, which has that code if it is the app's.
    pub(super) fn page_refused(&mut self, page: &mut Page, error: Reply, code: Option<&str>) {
        let calls = std::mem::take(&mut page.calls);
        let mut runs: Vec<_> = calls.into_iter().collect();
        runs.sort_unstable_by_key(|(key, _)| *key);
        for (_, (run, _)) in runs {
            // An operator may have been told that it is cancelled.
            let stopped = self.runs.get(run).and_then(|run| run.stop());
            let settled = match (stopped, &error) {
                (Some(stop), _) => Settled::Cancelled(stop),
                (None, Reply::Json(error)) => {
                    let ending = failed_ending(code.map(str::to_string));
                    self.runs.end(run, ending, self.now.unix_ms);
                    Settled::Response(Reply::Json(failed_with(error.as_str())))
                }
                (None, Reply::Failed(error)) => Settled::Response(Reply::Failed(error.clone())),
            };
            self.page_unsent(run, settled);
        }
        page.give_up = None;
        page.state.disconnected();
    }
}

/// The answer to a request of a page.
pub(in crate::broker) enum Answer<'a> {
    /// What the app says, its payload, and how far it has seen a stop.
    Said(&'a Said<'a>, Json, Grade),
    /// The app has not understood the request: its error as JSON, and what that says.
    Error(&'a str, &'a Said<'a>),
    /// The gateway answers in the app's stead; for a cancel, with that reason.
    Failed(&'a Failure, Option<&'a str>),
    /// The call was cancelled before it came, and never goes to the app.
    NeverStarted,
}

impl Page {
    fn called(&mut self, key: RequestKey, answer: Answer<'_>) {
        let state = &mut self.state;
        match answer {
            Answer::Said(said, ..) if said.success.is_none() => state.called(key, None, None),
            Answer::Said(said, payload, grade) if said.cancelled => {
                state.called(key, Some(Reply::Json(payload)), Some(grade.stop));
            }
            Answer::Said(said, payload, _) => {
                let open = said.success == Some(false)
                    && said.code.as_deref().is_some_and(Code::leaves_open);
                called(state, key, Reply::Json(payload), open);
            }
            Answer::Error(error, said) => {
                let response = failed_with(error);
                let open = said.code.as_deref().is_some_and(Code::leaves_open);
                called(state, key, Reply::Json(response), open);
            }
            Answer::Failed(error, _) => {
                let open = Code::leaves_open(error.code.as_str());
                called(state, key, Reply::Failed(error.clone()), open);
            }
            Answer::NeverStarted => {
                let nothing = Reply::Json(Json::from(String::new()));
                state.called(key, Some(nothing), Some(Stop::NeverStarted));
            }
        }
    }

    fn cancelled(&mut self, key: RequestKey, answer: Answer<'_>) {
        let state = &mut self.state;
        match answer {
            Answer::Said(said, _, grade) => {
                let reason = said.reason.as_deref().map(str::to_string);
                let error = said.error.map(|error| Reply::Json(Json::keep(error, None)));
                let lost = said.code.as_deref().is_some_and(says_no_session);
                let confirmed = said.cancelled.then_some((grade.stop, grade.ended));
                state.cancelled(key, confirmed, reason, error, lost);
            }
            Answer::Error(_, said) => {
                let lost = said.code.as_deref().is_some_and(says_no_session);
                let error = said.error.map(|error| Reply::Json(Json::keep(error, None)));
                state.cancelled(key, None, None, error, lost);
            }
            Answer::Failed(error, reason) => {
                let lost = says_no_session(error.code.as_str());
                let reason = reason.map(str::to_string);
                state.cancelled(key, None, reason, Some(Reply::Failed(error.clone())), lost);
            }
            Answer::NeverStarted => {
                state.cancelled(key, Some((Stop::NeverStarted, None)), None, None, false);
            }
        }
    }
}

/// A call is answered; `open` if it leaves open what became of the call.
fn called(state: &mut AgentState<Reply>, key: RequestKey, response: Reply, open: bool) {
    match open {
        true => state.called_undecided(key, response),
        false => state.called(key, Some(response), None),
    }
}

fn failed_with(error: &str) -> Json {
    format!(r#"{{"success":false,"error":{error}}}"#).into()
}
