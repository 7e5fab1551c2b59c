//! Requests of agents, on their way to an app.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::amount::Amount;
use super::calls::outcome::{CancelOutcome, answer_by, cancel_payload, no_new_calls};
use super::message::{Cancel, Content};
use super::sessions::pending::{AnswerTo, Entry, IssuedId};
use super::{Action, Backlog, Broker, PeerId};
use crate::bounds::Permit;
use crate::broker::calls::{CallRequest, ID_CHARS, NewCall, Run, RunId};
use crate::wire::{Envelope, Failure, Header, Outgoing, Request, Subject, invalid_at};
use caphost::call::{Code, Error, Stop};

/// The largest cancel that an app with a full queue gets as it was written.
const CANCEL_BYTES: usize = 256;
/// When an agent without room for its session may try again, in milliseconds.
const RETRY_SESSION_MS: f64 = 5_000.0;
/// The largest size of a name that is kept.
const NAME_BYTES: usize = 4 * ID_CHARS;

/// The place of a session with an app.
type Session = Permit<Arc<str>>;

/// A request on its way to an app.
pub(super) struct Asked<'a> {
    pub request: Request,
    pub answer_to: AnswerTo,
    pub payload: &'a str,
    /// The buffer of the payload, where it may be shared and need not be copied.
    pub shared: Option<&'a Bytes>,
    pub timestamp: Option<&'a str>,
    /// The `callId` of a cancel, as JSON.
    pub call_id: Option<&'a str>,
    pub about: About<'a>,
}

/// What a request is about.
pub(super) enum About<'a> {
    /// A call that begins a run.
    Call(NewCall<'a>),
    /// The call of a registered run.
    Entered(RunId, &'a CallRequest),
    /// A cancel of a call.
    Cancel(Cancel<'a>),
    /// Neither a call nor a cancel.
    Nothing,
}

/// Why a request does not go to its app.
pub(super) enum Unsent {
    /// The run is already over.
    Skipped,
    /// A cancel of a call whose end is known.
    Known(Box<CancelOutcome>),
    /// The request or the state of the broker does not allow it.
    Refused(Failure),
}

impl From<Failure> for Unsent {
    fn from(error: Failure) -> Self {
        Unsent::Refused(error)
    }
}

impl Broker {
    pub(super) fn agent_request(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
        content: Content<'_>,
    ) {
        if let (Content::Hello(name), Some(agent)) = (&content, self.sessions.get_mut(&peer)) {
            agent.profile.name.clone_from(name);
        }
        let agent = self.sessions.get(&peer);
        let id = envelope.id;
        if id.is_some_and(|id| agent.is_some_and(|agent| agent.pending.has_id(id))) {
            // The typed answer would seem to answer the agent's first request of this id.
            let subject = Subject {
                kind: None,
                ..envelope.subject()
            };
            let error = invalid_at("id", "A request with this `id` is in flight");
            return self.refuse(peer, &subject, &error);
        }
        let payload = match request {
            Request::Shutdown if envelope.payload.is_none() => Ok("{}"),
            _ => envelope.object(),
        };
        let sent = payload.map_err(Unsent::from).and_then(|payload| {
            if let Content::Cancel(cancel) = &content
                && self.agent_cancels(peer, envelope, cancel)?
            {
                return Ok(());
            }
            let asked = Asked {
                request,
                answer_to: AnswerTo::agent(id),
                payload,
                shared: envelope.shared,
                timestamp: envelope.timestamp,
                call_id: envelope.call_id,
                about: match content {
                    Content::Call(call) => About::Call(*call),
                    Content::Cancel(cancel) => About::Cancel(cancel),
                    _ => About::Nothing,
                },
            };
            self.request(peer, asked).map(drop)
        });
        match sent {
            Ok(()) => {}
            // The call was cancelled before it came.
            Err(Unsent::Skipped) => {
                let never = CancelOutcome::confirmed(Stop::NeverStarted.into());
                self.answer_for_the_app(peer, envelope, request, &never);
            }
            Err(Unsent::Known(outcome)) => {
                self.answer_for_the_app(peer, envelope, request, &outcome);
            }
            Err(Unsent::Refused(error)) => self.refuse(peer, &envelope.subject(), &error),
        }
    }

    /// Passes a request on to its app. Returns the number under which the request goes there.
    pub(super) fn request(&mut self, peer: PeerId, asked: Asked<'_>) -> Result<u64, Unsent> {
        let kept = self.kept(&asked);
        let (app, session) = self.route(peer, &asked, kept)?;
        if let Some(session) = session {
            self.bind(peer, app, session);
        }
        let issued = self.issue();
        let run = self.note(peer, app, issued, &asked.about)?;
        self.pass_on(peer, app, asked, issued, run, kept);
        Ok(issued)
    }

    /// The bytes kept of a request's texts and of the run that it begins.
    fn kept(&self, asked: &Asked<'_>) -> usize {
        let ids = asked.answer_to.ids().flatten().map(str::len);
        let run = match &asked.about {
            // The run, its dialect's id and its agent share one callId. The bound counts all three.
            About::Call(call) => {
                let token = call.token.as_ref().map_or(0, |token| token.len());
                3 * call.call_id.len() + token + call.capability.len().min(NAME_BYTES)
            }
            About::Entered(run, _) => self.calls.get(*run).map_or(0, Run::short_bytes),
            About::Cancel(_) | About::Nothing => 0,
        };
        ids.sum::<usize>() + asked.call_id.map_or(0, str::len) + run
    }

    /// The app that a request goes to, with the place of the session that the request opens. Or why the
    /// request goes nowhere.
    fn route(
        &mut self,
        peer: PeerId,
        asked: &Asked<'_>,
        kept: usize,
    ) -> Result<(PeerId, Option<Session>), Failure> {
        let (request, bytes) = (asked.request, asked.payload.len());
        let Some(agent) = self.sessions.get(&peer) else {
            return Err(not_initialized());
        };
        // The workers of other agents count their cancels themselves.
        let has_room = request == Request::Cancel && !agent.is_here();
        if !has_room && agent.pending.amount(request).count >= self.limits.in_flight {
            let max = self.limits.in_flight;
            let message = format!("{max} requests of this type are in flight");
            return Err(over("inFlight", max, message));
        }
        if !has_room && agent.is_here() && !self.tokens.is_empty() {
            let own = self.sessions.unanswered(&agent.profile.owner.name, request);
            let max = self.limits.in_flight_per_token;
            if own.count >= max {
                let message = format!("{max} requests of this type are in flight with this token");
                return Err(over("inFlightPerToken", max, message));
            }
            let max = self.limits.retention.bytes;
            if own.bytes + kept > max {
                return Err(too_many_bytes(max));
            }
        }
        let (app, session) = match (agent.app, request) {
            (Some(app), _) => (app, None),
            (None, Request::Initialize) => {
                let app = self.apps.choose(&agent.wanted, &agent.profile.owner)?;
                self.may_reach(peer, app)?;
                (app, self.session_for(&agent.profile.quota_key, app)?)
            }
            (None, _) => return Err(not_initialized()),
        };
        let is_new = agent.app.is_none() || request == Request::Call;
        if is_new && !self.apps.takes_calls(app) {
            return Err(no_new_calls());
        }
        self.check_room(app, peer, request, bytes)?;
        Ok((app, session))
    }

    /// Binds an agent to the app of its `initialize`.
    fn bind(&mut self, peer: PeerId, to: PeerId, session: Session) {
        let (Some(agent), Some(app)) = (self.sessions.get_mut(&peer), self.apps.get_mut(&to))
        else {
            return;
        };
        agent.app = Some(to);
        app.agents.insert(agent.handle.clone(), peer);
        agent.session = Some(session);
        app.unbound.remove(&peer);
    }

    /// A place for one more session of `quota_key` with that app.
    fn session_for(&self, quota_key: &Arc<str>, app: PeerId) -> Result<Option<Session>, Failure> {
        let app = self.apps.get(&app);
        let why = match app.map(|app| app.sessions.take(quota_key, 1)).transpose() {
            Ok(session) => return Ok(session),
            Err(why) => why,
        };
        let max = self.limits.sessions_per_app;
        let message = format!(
            "Of {max} sessions with this app {why}. End sessions that are not used, or raise --max-sessions-per-app"
        );
        let mut error = Error::new(Code::RATE_LIMITED, message)
            .with_details(Box::new(json!({ "limit": "sessionsPerApp", "max": max })));
        error.retry_after = Some(RETRY_SESSION_MS);
        Err(error)
    }

    /// Whether an agent may call that app.
    pub(super) fn may_reach(&self, agent: PeerId, app: PeerId) -> Result<(), Failure> {
        let app = self
            .apps
            .get(&app)
            .and_then(|app| app.registration.as_ref());
        let (Some(agent), Some(registration)) = (self.sessions.get(&agent), app) else {
            return Ok(());
        };
        if agent.profile.owner.may_reach(&registration.app.id) {
            return Ok(());
        }
        let message = format!("The token is not for the app {:?}", registration.app.id);
        Err(Error::new(Code::PERMISSION_DENIED, message)
            .with_details(Box::new(json!({ "path": "app" }))))
    }

    pub(super) fn pass_on(
        &mut self,
        peer: PeerId,
        app: PeerId,
        asked: Asked<'_>,
        issued: u64,
        run: Option<RunId>,
        kept: usize,
    ) {
        let bytes = match self.apps.is_inside(app) {
            true => self.hand_over(peer, app, &asked, issued),
            false => self.write(peer, app, &asked, issued),
        };
        let Some(agent) = self.sessions.get(&peer) else {
            return;
        };
        self.counters.relayed += 1;
        // What an agent that has left has sent does not count any more.
        let bytes = if agent.left { 0 } else { bytes };
        let entry = Entry {
            issued,
            request: asked.request,
            call_id: asked.call_id.map(Box::from),
            run,
            bytes,
            amount: match asked.answer_to {
                AnswerTo::Nobody => Amount::default(),
                AnswerTo::Askers(_) | AnswerTo::Session => Amount::one(kept),
            },
            answer_to: asked.answer_to,
        };
        if let Some(app) = self.apps.get_mut(&app) {
            app.load.add(&agent.profile.owner.name, entry.bytes);
        }
        self.sessions.add(peer, entry);
    }

    /// Gives a request to an app inside the gateway. Returns the size of the request.
    fn hand_over(&mut self, peer: PeerId, app: PeerId, asked: &Asked<'_>, issued: u64) -> usize {
        let Some(agent) = self.sessions.get(&peer) else {
            return 0;
        };
        let (agent, ask) = (agent.handle.clone(), self.ask_of(asked));
        self.ask_inside(app, agent, issued, ask);
        asked.payload.len()
    }

    /// Writes a request to an app. Returns the size of the message.
    fn write(&mut self, peer: PeerId, app: PeerId, asked: &Asked<'_>, issued: u64) -> usize {
        let much_waits = self.much_waits();
        let Some(agent) = self.sessions.get(&peer) else {
            return 0;
        };
        let id = IssuedId::of(issued);
        let header = Header {
            kind: asked.request.kind(),
            id: Some(id.as_str()),
            agent: Some(&agent.handle),
            timestamp: asked.timestamp.unwrap_or(&self.timestamp),
        };
        let is_short =
            !much_waits && (self.apps.get(&app)).is_none_or(|app| app.backlog == Backlog::Short);
        let message = match &asked.about {
            // A cancel always fits, but a long reason might not, so the reason is dropped.
            About::Cancel(cancel) if !is_short && asked.payload.len() > CANCEL_BYTES => {
                let call_id = cancel.call_id.as_deref().unwrap_or_default();
                Outgoing::new(header, cancel_payload(call_id, None).as_str(), None)
            }
            About::Call(call) if agent.is_here() && call.completed.is_some() => {
                Outgoing::new(header, call.completed.as_deref().unwrap_or("{}"), None)
            }
            _ => Outgoing::new(header, asked.payload, asked.shared),
        };
        let bytes = message.cost();
        self.actions.push_back(Action::Send { peer: app, message });
        bytes
    }

    /// Answers a request that need not reach the app: a call that was cancelled before it came, or a cancel
    /// of a call whose end is known.
    fn answer_for_the_app(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        request: Request,
        outcome: &CancelOutcome,
    ) {
        let payload = answer_by(outcome, request, envelope.call_id);
        self.send(peer, request.answer(), envelope.id, &payload);
    }
}

pub(super) fn too_many_bytes(max: usize) -> Failure {
    let message = format!(
        "The ids and names of requests of this type in flight with this token may have {max} bytes"
    );
    over("inFlightBytes", max, message)
}

/// The error of a request past that bound.
pub(super) fn over(limit: &str, max: usize, message: String) -> Failure {
    Error::new(Code::RATE_LIMITED, message)
        .with_details(Box::new(json!({ "limit": limit, "max": max })))
}

fn not_initialized() -> Failure {
    Error::new(
        Code::NOT_INITIALIZED,
        "There is no session: initialize first",
    )
}
