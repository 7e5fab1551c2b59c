//! Sessions of the gateway itself with apps, in which the fronts make their calls.
//!
//! To its app such a session is an agent like any other. The record of the call decides how the call ends: the
//! caller is told the first end of its run, and nothing that comes later.

mod questions;

use super::calls::outcome::no_new_calls;
use super::calls::{AbpError, Ending, Live, NewCall, Outcome, RunId};
use super::end::SLACK_MS;
use super::requests::{About, Asked, Unsent};
use super::sessions::pending::{AnswerTo, Entry};
use super::{Broker, PeerId, Profile, Wanted};
use crate::wire::{Failure, Json, Request};
use caphost::call::{Code, Millis};

/// How long an app has to answer `initialize`, in milliseconds.
const INITIALIZE_MS: Millis = 10_000.0;

/// How long an unused session stays after its last call, in milliseconds: some apps do not answer a shutdown.
const SOON_MS: Millis = 500.0;

/// The client of a session of the gateway itself.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The app that the client wants.
    pub app: Wanted,
    /// The identity of the client.
    pub profile: Profile,
    /// The payload of the session's `initialize`.
    pub hello: Json,
    /// Whether the client takes questions. If so, the session has one call at a time, because a question does
    /// not say of which call it is.
    pub takes_questions: bool,
}

/// The caller's half of one session.
pub(super) struct InternalSession {
    phase: Phase,
    takes_questions: bool,
}

enum Phase {
    /// The app has not answered `initialize`. These calls wait for the answer.
    Opening(Vec<RunId>),
    Open,
    /// Nobody uses the session any more. The app has until that time to end the calls.
    Closing(Millis),
}

impl Broker {
    /// Opens a session for its first call.
    fn open_internal(&mut self, session: PeerId, client: &NewSession, first: RunId) {
        self.agent_joined(session, client.app.clone(), client.profile.clone());
        let Some(agent) = self.sessions.get_mut(&session) else {
            // The gateway is stopping and has turned the session away.
            return self.fail_internal(first, &no_new_calls());
        };
        agent.internal = Some(Box::new(InternalSession {
            phase: Phase::Opening(vec![first]),
            takes_questions: client.takes_questions,
        }));
        self.wait_for(session, Some(INITIALIZE_MS));
        let hello = &client.hello;
        let sent = self.internal_request(session, Request::Initialize, hello, About::Nothing);
        if let Err(error) = sent {
            self.internal_refused(session, &(&error).into());
        }
    }

    /// Nobody uses a session any more.
    pub(super) fn internal_left(&mut self, session: PeerId) {
        let until = self.now.monotonic_ms + self.grace();
        let Some(own) = self.internal_session(session) else {
            return;
        };
        if matches!(own.phase, Phase::Opening(_)) {
            return self.gone(session);
        }
        own.phase = Phase::Closing(until);
        self.wait_for(session, Some(SOON_MS.min(self.grace())));
        let nothing = Json::from("{}".to_string());
        let sent = self.internal_request(session, Request::Shutdown, &nothing, About::Nothing);
        if sent.is_err() {
            self.gone(session);
        }
    }

    /// The app, or the gateway in its place, has answered a request of a session. `error` is the error of
    /// the answer, if it has one.
    pub(super) fn internal_answered(
        &mut self,
        session: PeerId,
        entry: &Entry,
        error: Option<AbpError>,
    ) {
        let Some(own) = self.internal_session(session) else {
            return;
        };
        match (entry.request, error) {
            (Request::Initialize, Some(error)) => self.internal_refused(session, &error),
            (Request::Initialize, None) => {
                let before = std::mem::replace(&mut own.phase, Phase::Open);
                self.wait_for(session, None);
                if let Phase::Opening(calls) = before {
                    for run in calls {
                        self.send_internal(session, run);
                    }
                }
            }
            (Request::Shutdown | Request::List, _) => self.gone(session),
            // The run of a call tells its end.
            (Request::Call | Request::Cancel, _) => {}
        }
    }

    /// The session does not open. The calls that wait for it fail with that error.
    fn internal_refused(&mut self, session: PeerId, error: &AbpError) {
        let Some(own) = self.internal_session(session) else {
            return;
        };
        if let Phase::Opening(calls) = std::mem::replace(&mut own.phase, Phase::Open) {
            for run in calls {
                let ending = Ending::of_error(&error.code);
                self.end_run(run, ending, || Outcome::Failed(error.clone()));
            }
        }
        self.gone(session);
    }

    /// A session has ended for that reason.
    pub(super) fn internal_gone(&mut self, own: InternalSession, why: &Failure) {
        if let Phase::Opening(calls) = own.phase {
            for run in calls {
                self.fail_internal(run, why);
            }
        }
    }

    /// The app has not opened or closed a session in time.
    pub(super) fn internal_overdue(&mut self, session: PeerId) {
        let now = self.now.monotonic_ms;
        let is_calling = self.is_calling(session);
        match self.internal_session(session).map(|own| &own.phase) {
            Some(Phase::Opening(_)) => {
                let message = "The page does not respond; its tab may be frozen";
                let error = AbpError::new(Code::TIMEOUT, message);
                self.internal_refused(session, &error);
            }
            Some(Phase::Closing(until)) if is_calling && now < *until => {
                let left = *until - now;
                self.wait_for(session, Some(SOON_MS.min(left)));
            }
            Some(Phase::Closing(_)) => self.gone(session),
            Some(Phase::Open) | None => {}
        }
    }

    /// Whether a session is about to close.
    pub(super) fn is_closing(&mut self, session: PeerId) -> bool {
        let own = self.internal_session(session);
        own.is_some_and(|own| matches!(own.phase, Phase::Closing(_)))
    }

    /// Whether calls of a session are not over.
    pub(super) fn is_calling(&self, session: PeerId) -> bool {
        let mut runs = self.calls.all_of(session);
        runs.any(|run| self.calls.get(run).is_some_and(|run| !run.state.is_over()))
    }

    /// Sends a request in a session. Returns the number under which it went to the app, if it did.
    fn internal_request(
        &mut self,
        session: PeerId,
        request: Request,
        payload: &Json,
        about: About<'_>,
    ) -> Result<Option<u64>, Failure> {
        let asked = Asked {
            request,
            answer_to: AnswerTo::Session,
            payload: payload.as_str(),
            shared: Some(payload.shared()),
            timestamp: None,
            call_id: None,
            about,
        };
        match self.request(session, asked) {
            Ok(issued) => Ok(Some(issued)),
            // A call that is over is not sent.
            Err(Unsent::Skipped | Unsent::Known(_)) => Ok(None),
            Err(Unsent::Refused(error)) => Err(error),
        }
    }

    /// Makes a call: registers its run, and opens the session if it is not open.
    pub(super) fn internal_call(
        &mut self,
        session: PeerId,
        client: &NewSession,
        call: NewCall<'_>,
    ) {
        let run = call.run;
        let app = match &client.app {
            Wanted::Id(app) => Some(app.as_str().into()),
            Wanted::Any | Wanted::Peer(_) => None,
        };
        let new = call.run_of(&client.profile, app, (&*call.capability).into());
        let live = Live::new(session, call.token, call.request);
        let ended = self.calls.enter(new, live, call.sink, self.now.unix_ms);
        if ended.is_some() {
            return;
        }
        match self.internal_session(session) {
            Some(InternalSession {
                phase: Phase::Opening(calls),
                ..
            }) => calls.push(run),
            Some(_) => self.send_internal(session, run),
            None => self.open_internal(session, client, run),
        }
    }

    /// Sends a call in its open session.
    pub(super) fn send_internal(&mut self, session: PeerId, run: RunId) {
        let request = self.calls.change(run, |call| call.request.take());
        let Some(call) = request.flatten() else {
            return;
        };
        let sent = self.internal_request(
            session,
            Request::Call,
            &call.payload,
            About::Entered(run, &call),
        );
        if let Err(error) = sent {
            return self.fail_internal(run, &error);
        }
        let slack = SLACK_MS.min(self.grace());
        let until = call.timeout.map(|it| self.now.monotonic_ms + it + slack);
        self.calls.change(run, |call| call.timeout = until);
    }

    pub(super) fn fail_internal(&mut self, run: RunId, error: &Failure) {
        let ending = Ending::of_error(error.code.as_str());
        self.end_run(run, ending, || Outcome::Failed(error.into()));
    }

    fn internal_session(&mut self, session: PeerId) -> Option<&mut InternalSession> {
        self.sessions.get_mut(&session)?.internal.as_deref_mut()
    }
}
