//! Sessions of the gateway's own with apps, in which fronts call: calls come typed, and so does what
//! becomes of them.
//!
//! To its app such a session is an agent like any other. When a call is over, the ledger of runs says:
//! what ends its run first is what its caller is told, and nothing that comes after it.

mod calls;

use std::sync::Arc;

use super::call::{NewSession, Reply, no_new_calls};
use super::message::Cancel;
use super::pending::{Asker, Entry};
use super::requests::{About, Asked, Unsent};
use super::{Action, Broker, PeerId};
use crate::broker::runs::RunId;
use crate::remembered::Remembered;
use crate::wire::{Failure, Json, Request};
pub(super) use calls::OwnCall;
use calls::WaitingCall;
use caphost::call::{Code, Error, Millis};
use serde_json::json;

/// How long an app has to answer `initialize`, in milliseconds.
const INITIALIZE_MS: Millis = 10_000.0;

/// How long a session stays that nobody calls in, in milliseconds, once its calls are over: there are
/// apps that do not answer a shutdown.
const SOON_MS: Millis = 500.0;

/// Abandoned calls of one session whose ends are waited for, 1 024.
const ABANDONED: usize = 1_024;

/// The caller's half of one session.
pub(super) struct OwnSession {
    phase: Phase,
    /// Calls that are over and whose handlers may go on, by their callIds.
    abandoned: Remembered<Arc<str>, RunId, ABANDONED>,
}

enum Phase {
    /// The app has not answered `initialize`, which these calls wait for.
    Opening(Vec<WaitingCall>),
    Open,
    /// Nobody calls any more. The app has until then to end the calls.
    Closing(Millis),
}

impl Broker {
    /// Opens a session for its first call.
    fn open_own(&mut self, session: PeerId, client: &NewSession, first: WaitingCall) {
        self.agent_joined(session, client.app.clone(), client.profile.clone());
        let Some(agent) = self.agents.get_mut(&session) else {
            // Turned away, as the gateway shuts down.
            return self.fail_own(first.run, no_new_calls());
        };
        agent.own = Some(Box::new(OwnSession {
            phase: Phase::Opening(vec![first]),
            abandoned: Remembered::default(),
        }));
        self.wait_for(session, Some(INITIALIZE_MS));
        let hello = &client.hello;
        let sent = self.own_request(session, Request::Initialize, hello, About::Nothing);
        if let Err(error) = sent {
            self.own_refused(session, &Reply::Failed(error));
        }
    }

    /// Nobody calls in a session any more.
    pub(super) fn own_left(&mut self, session: PeerId) {
        let until = self.now.monotonic_ms + self.grace();
        let Some(own) = self.own_session(session) else {
            return;
        };
        if matches!(own.phase, Phase::Opening(_)) {
            return self.gone(session);
        }
        own.phase = Phase::Closing(until);
        self.wait_for(session, Some(SOON_MS.min(self.grace())));
        let nothing = Json::from("{}".to_string());
        let sent = self.own_request(session, Request::Shutdown, &nothing, About::Nothing);
        if sent.is_err() {
            self.gone(session);
        }
    }

    /// The app, or the gateway in its stead, has answered a request of a session: with an error, which a
    /// call would be answered with like that.
    pub(super) fn own_answered(&mut self, session: PeerId, entry: &Entry, error: Option<Reply>) {
        let Some(own) = self.own_session(session) else {
            return;
        };
        match (entry.request, error) {
            (Request::Initialize, Some(error)) => self.own_refused(session, &error),
            (Request::Initialize, None) => {
                let before = std::mem::replace(&mut own.phase, Phase::Open);
                self.wait_for(session, None);
                if let Phase::Opening(calls) = before {
                    for call in calls {
                        self.send_own(session, call);
                    }
                }
            }
            (Request::Shutdown | Request::List, _) => self.gone(session),
            (Request::Cancel, error) => {
                self.own_cancel_answered(session, entry, error.as_ref());
            }
            // What becomes of a call, its run says.
            (Request::Call, _) => {}
        }
    }

    /// There will be no session: what waits for it fails with that error.
    fn own_refused(&mut self, session: PeerId, error: &Reply) {
        let Some(own) = self.own_session(session) else {
            return;
        };
        if let Phase::Opening(calls) = std::mem::replace(&mut own.phase, Phase::Open) {
            for call in calls {
                self.end_run(call.run, error.ending(), || Some(error.clone()));
            }
        }
        self.gone(session);
    }

    /// A session is not an agent any more, for that reason.
    pub(super) fn own_gone(&mut self, own: OwnSession, why: &Failure) {
        if let Phase::Opening(calls) = own.phase {
            for call in calls {
                self.fail_own(call.run, why.clone());
            }
        }
        for (_, run) in own.abandoned.into_all() {
            self.actions.push_back(Action::CallOver { run });
        }
    }

    /// The app has not opened a session in time, or not closed it.
    pub(super) fn own_overdue(&mut self, session: PeerId) {
        let now = self.now.monotonic_ms;
        let is_calling = self.is_calling(session);
        match self.own_session(session).map(|own| &own.phase) {
            Some(Phase::Opening(_)) => {
                let message = "The page does not respond; its tab may be frozen";
                let error = Error::new(Code::TIMEOUT, message);
                self.own_refused(session, &Reply::Failed(error));
            }
            Some(Phase::Closing(until)) if is_calling && now < *until => {
                let left = *until - now;
                self.wait_for(session, Some(SOON_MS.min(left)));
            }
            Some(Phase::Closing(_)) => self.gone(session),
            Some(Phase::Open) | None => {}
        }
    }

    /// Whether nobody calls in a session any more.
    fn is_closing(&mut self, session: PeerId) -> bool {
        let own = self.own_session(session);
        own.is_some_and(|own| matches!(own.phase, Phase::Closing(_)))
    }

    /// Whether the app has calls of a session that are not over.
    fn is_calling(&self, session: PeerId) -> bool {
        let agent = self.agents.get(&session);
        let mut runs = agent.into_iter().flat_map(|agent| agent.calls.values());
        runs.any(|run| self.own_calls.contains_key(run))
    }

    /// Sends a request in a session. Returns the number it went to the app with, if it did.
    fn own_request(
        &mut self,
        session: PeerId,
        request: Request,
        payload: &Json,
        about: About<'_>,
    ) -> Result<Option<u64>, Failure> {
        let call_id = match &about {
            About::Cancel(Cancel { call_id, .. }) => Some(json!(call_id).to_string()),
            _ => None,
        };
        let asked = Asked {
            request,
            asker: Asker::Own,
            payload: payload.as_str(),
            shared: Some(payload.shared()),
            timestamp: None,
            call_id: call_id.as_deref(),
            about,
        };
        match self.request(session, asked) {
            Ok(issued) => Ok(Some(issued)),
            // What is over is not sent.
            Err(Unsent::Skipped | Unsent::Known(_)) => Ok(None),
            Err(Unsent::Refused(error)) => Err(error),
        }
    }

    fn own_session(&mut self, session: PeerId) -> Option<&mut OwnSession> {
        self.agents.get_mut(&session)?.own.as_deref_mut()
    }
}
