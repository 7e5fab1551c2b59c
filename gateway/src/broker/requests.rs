//! An agent's request, on its way to the app.

use std::sync::Arc;

use serde_json::json;

use super::pending::{Entry, issued_id};
use super::recording::Noted;
use super::{Action, PeerId, Relay};
use crate::broker::runs::RunId;
use crate::wire::{Envelope, Failure, Header, Outgoing, Request, Subject};
use caphost::call::{Code, Error};

/// What an agent waits before it calls an app again that does not keep up, in milliseconds.
const CONGESTED_RETRY_MS: f64 = 1_000.0;

impl Relay {
    pub(super) fn agent_request(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
        run: Option<RunId>,
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
        match self.route(peer, envelope, request) {
            Ok((app, payload)) => match self.note_request(peer, app, request, payload, run) {
                Noted::Pass(run, payload) => {
                    self.pass_on(peer, app, envelope, request, &payload, run);
                }
                Noted::Skip => self.answer_for_the_app(peer, envelope, request),
                Noted::Refuse(error) => self.refuse(peer, &envelope.subject(), &error),
            },
            Err(error) => self.refuse(peer, &envelope.subject(), &error),
        }
    }

    fn is_duplicate(&self, peer: PeerId, envelope: &Envelope<'_>) -> bool {
        let agent = self.agents.get(&peer);
        envelope
            .id
            .is_some_and(|id| agent.is_some_and(|agent| agent.ids.contains(id)))
    }

    /// The app a request goes to, and its payload; or why it goes nowhere.
    fn route<'a>(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'a>,
        request: Request,
    ) -> Result<(PeerId, &'a str), Failure> {
        let payload = match request {
            Request::Shutdown if envelope.payload.is_none() => "{}",
            _ => envelope.object()?,
        };
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
        Ok((app, payload))
    }

    fn bind(&mut self, peer: PeerId, to: PeerId) {
        let (Some(agent), Some(app)) = (self.agents.get_mut(&peer), self.apps.get_mut(&to)) else {
            return;
        };
        agent.app = Some(to);
        app.agents.insert(agent.handle.clone(), peer);
    }

    fn pass_on(
        &mut self,
        peer: PeerId,
        app: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
        payload: &str,
        run: Option<RunId>,
    ) {
        let issued = self.issue();
        let Some(agent) = self.agents.get_mut(&peer) else {
            return;
        };
        let id: Option<Arc<str>> = envelope.id.map(Arc::from);
        agent.remember(issued, request, id.clone());
        let header = Header {
            kind: request.kind(),
            id: Some(&issued_id(issued)),
            agent: Some(&agent.handle),
            timestamp: envelope.timestamp.unwrap_or(&self.timestamp),
        };
        // A payload that was added to no longer lies in the buffer it came in.
        let shared = envelope.shared.filter(|_| {
            envelope
                .payload
                .is_some_and(|it| it.as_ptr() == payload.as_ptr())
        });
        let message = Outgoing::new(header, payload, shared);
        self.actions.push_back(Action::Send { peer: app, message });
        self.counters.relayed += 1;
        let call_id = match request {
            Request::Cancel => envelope.subject().call_id,
            _ => None,
        };
        self.pending.insert(
            issued,
            Entry {
                agent: peer,
                app,
                request,
                id,
                call_id,
                run,
                revokes: None,
            },
        );
    }
}

fn not_initialized() -> Failure {
    Error::new(
        Code::NOT_INITIALIZED,
        "There is no session: initialize first",
    )
}
