//! An agent's request, on its way to the app.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::message::{Call, Cancel, Content};
use super::pending::{Asker, Entry, issued_id};
use super::recording::Noted;
use super::{Action, Broker, PeerId};
use crate::broker::runs::RunId;
use crate::wire::{Envelope, Failure, Header, Outgoing, Request, Subject};
use caphost::call::{CallId, Code, Error};

/// What an agent waits before it calls an app again that does not keep up, in milliseconds.
const CONGESTED_RETRY_MS: f64 = 1_000.0;

/// A request on its way to an app.
pub(super) struct Asked<'a> {
    pub request: Request,
    pub asker: Asker,
    pub payload: &'a str,
    /// The bytes the payload lies in, where they may be kept instead of copied.
    pub shared: Option<&'a Bytes>,
    pub timestamp: Option<&'a str>,
    /// A cancel's `callId`, as JSON.
    pub call_id: Option<&'a str>,
    pub about: About<'a>,
}

/// What a request is about.
pub(super) enum About<'a> {
    /// It begins a run.
    Call(Box<Call<'a>>),
    /// It is the call of a run that is registered.
    OwnCall(RunId, CallId),
    /// It cancels a call.
    Cancel(Cancel<'a>),
    /// Neither.
    Nothing,
}

/// What became of a request.
pub(super) enum Requested {
    /// It is on its way to the app.
    Sent,
    /// It must not go there, because its run is over already.
    Skipped,
    /// It goes nowhere.
    Refused(Failure),
}

impl Broker {
    pub(super) fn agent_request(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
        content: Content<'_>,
    ) {
        if self.is_duplicate(peer, envelope) {
            // Not the typed answer: the agent would take it for that of its first request.
            let subject = Subject {
                kind: None,
                ..envelope.subject()
            };
            let error = Error::invalid_params("A request with this `id` is in flight")
                .with_details(Box::new(json!({ "path": "id" })));
            return self.refuse(peer, &subject, &error);
        }
        let payload = match request {
            Request::Shutdown if envelope.payload.is_none() => Ok("{}"),
            _ => envelope.object(),
        };
        let requested = match payload {
            Ok(payload) => self.request(
                peer,
                Asked {
                    request,
                    asker: Asker::Agent(envelope.id.map(Arc::from)),
                    payload,
                    shared: envelope.shared,
                    timestamp: envelope.timestamp,
                    call_id: envelope.call_id,
                    about: match content {
                        Content::Call(call) => About::Call(call),
                        Content::Cancel(cancel) => About::Cancel(cancel),
                        _ => About::Nothing,
                    },
                },
            ),
            Err(error) => Requested::Refused(error),
        };
        match requested {
            Requested::Sent => {}
            Requested::Skipped => self.answer_for_the_app(peer, envelope, request),
            Requested::Refused(error) => self.refuse(peer, &envelope.subject(), &error),
        }
    }

    /// Passes a request on to the app it is for.
    pub(super) fn request(&mut self, peer: PeerId, asked: Asked<'_>) -> Requested {
        let app = match self.route(peer, asked.request) {
            Ok(app) => app,
            Err(error) => return Requested::Refused(error),
        };
        let run = match &asked.about {
            About::Nothing => Noted::Pass(None),
            About::Cancel(cancel) => self.note_cancel(peer, cancel),
            About::Call(call) => self.note_call(peer, app, call),
            About::OwnCall(run, id) => self.note_own_call(peer, app, *run, id),
        };
        match run {
            Noted::Pass(run) => {
                self.pass_on(peer, app, asked, run);
                Requested::Sent
            }
            Noted::Skip => Requested::Skipped,
            Noted::Refuse(error) => Requested::Refused(error),
        }
    }

    fn is_duplicate(&self, peer: PeerId, envelope: &Envelope<'_>) -> bool {
        let agent = self.agents.get(&peer);
        envelope
            .id
            .is_some_and(|id| agent.is_some_and(|agent| agent.ids.contains(id)))
    }

    /// The app a request goes to, or why it goes nowhere.
    fn route(&mut self, peer: PeerId, request: Request) -> Result<PeerId, Failure> {
        let Some(agent) = self.agents.get(&peer) else {
            return Err(not_initialized());
        };
        if agent.in_flight.get(&request).copied().unwrap_or(0) >= self.limits.in_flight {
            let max = self.limits.in_flight;
            let message = format!("{max} requests of this type are in flight");
            return Err(Error::new(Code::RATE_LIMITED, message)
                .with_details(Box::new(json!({ "limit": "inFlight", "max": max }))));
        }
        let app = match (agent.app, request) {
            (Some(app), _) => app,
            (None, Request::Initialize) => {
                let app = self.choose(&agent.wanted)?;
                self.may_reach(peer, app)?;
                self.bind(peer, app);
                app
            }
            (None, _) => return Err(not_initialized()),
        };
        if self.draining && request == Request::Call {
            let message = "The gateway is shutting down: it takes no new calls";
            return Err(Error::new(Code::CAPABILITY_UNAVAILABLE, message));
        }
        // Cancels still go through: they relieve the app.
        let congested = self.apps.get(&app).is_some_and(|app| app.congested);
        if congested && request == Request::Call {
            let mut error = Error::new(
                Code::RATE_LIMITED,
                "The app does not keep up with its calls",
            );
            error.retry_after = Some(CONGESTED_RETRY_MS);
            return Err(error.with_details(Box::new(json!({ "limit": "queuedBytes" }))));
        }
        Ok(app)
    }

    fn bind(&mut self, peer: PeerId, to: PeerId) {
        let (Some(agent), Some(app)) = (self.agents.get_mut(&peer), self.apps.get_mut(&to)) else {
            return;
        };
        agent.app = Some(to);
        app.agents.insert(agent.handle.clone(), peer);
    }

    fn pass_on(&mut self, peer: PeerId, app: PeerId, asked: Asked<'_>, run: Option<RunId>) {
        let issued = self.issue();
        let Some(agent) = self.agents.get_mut(&peer) else {
            return;
        };
        agent.remember(issued, asked.request, &asked.asker);
        let header = Header {
            kind: asked.request.kind(),
            id: Some(&issued_id(issued)),
            agent: Some(&agent.handle),
            timestamp: asked.timestamp.unwrap_or(&self.timestamp),
        };
        let message = match &asked.about {
            About::Call(call) if agent.is_here() && call.completed.is_some() => {
                Outgoing::new(header, call.completed.as_deref().unwrap_or("{}"), None)
            }
            _ => Outgoing::new(header, asked.payload, asked.shared),
        };
        self.actions.push_back(Action::Send { peer: app, message });
        self.counters.relayed += 1;
        let entry = Entry {
            agent: peer,
            app,
            request: asked.request,
            asker: asked.asker,
            call_id: asked.call_id.map(Box::from),
            run,
        };
        self.pending.insert(issued, entry);
    }
}

fn not_initialized() -> Failure {
    Error::new(
        Code::NOT_INITIALIZED,
        "There is no session: initialize first",
    )
}
