//! The agent of the command line: the core's [`AgentState`] with ABP around it, for one call.
//!
//! The agent has no socket and no clock. Its owner feeds in the messages that arrive, and sends the messages
//! that the agent returns.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::failure::Failure;
use crate::limits::Limits;
use crate::wire::abp;
use crate::wire::{Subject, mended};
use caphost::agent::{Action, AgentOptions, AgentState, Outgoing};
use caphost::call::{CallId, Code, Millis};

/// The id of the `initialize` request, which the core's state does not know.
const INITIALIZE: &str = "initialize";

/// An event of the call or of its cancel.
#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// An ABP `ProgressInfo`.
    Progress(Value),
    /// The call has ended with that `ABPResponse`.
    Ended(Value),
    /// The cancel was answered with that `CancelResponse`.
    Cancelled(Value),
}

/// An agent. It refuses questions, and the only notifications that it handles tell that an abandoned call has
/// ended.
pub(super) struct Agent {
    state: AgentState<Value>,
    started: Instant,
    session: Option<Result<Value, Failure>>,
    outgoing: VecDeque<String>,
    events: VecDeque<Event>,
    /// The id of the call.
    call: String,
    over: bool,
}

impl Agent {
    /// A new agent, which sends `initialize` first. The agent waits at most `grace` for the confirmation of a
    /// cancel, and for a response after the call's timeout.
    pub fn new(grace: Duration) -> Self {
        let options = AgentOptions {
            grace: grace.as_secs_f64() * 1_000.0,
            ..AgentOptions::default()
        };
        let hello = json!({
            "agent": { "name": "caphost", "version": env!("CARGO_PKG_VERSION") },
            "protocolVersion": abp::VERSION,
            "features": { "notifications": true, "progress": true, "elicitation": false },
        });
        let id = Value::from(INITIALIZE);
        let hello = abp::envelope(abp::kind::INITIALIZE, Some(&id), unix(), hello);
        Agent {
            state: AgentState::new(options),
            started: Instant::now(),
            session: None,
            outgoing: VecDeque::from([hello.to_string()]),
            events: VecDeque::new(),
            call: String::new(),
            over: false,
        }
    }

    /// The result of `initialize` or the error, once one of them is known.
    pub fn session(&self) -> Option<&Result<Value, Failure>> {
        self.session.as_ref()
    }

    /// Makes the call. Any problem with the call becomes its outcome.
    pub fn call(&mut self, call: Outgoing<Value>) {
        self.call = call.id.as_str().into();
        self.state.call(call);
        self.perform();
    }

    /// Cancels the call. A confirmation always follows.
    pub fn cancel(&mut self, call: CallId, reason: Option<String>) {
        self.state.cancel(call, reason, self.now());
        self.perform();
    }

    /// Ends the session.
    pub fn shut_down(&mut self) {
        self.state.shutdown(None, self.now());
        self.perform();
    }

    /// The messages to send next.
    pub fn outgoing(&mut self) -> &mut VecDeque<String> {
        &mut self.outgoing
    }

    /// Removes and returns the next event. When the session is over, every further event tells that the call
    /// has ended disconnected.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        let disconnected = || json!({ "success": false, "error": Failure::disconnected().body() });
        event.or_else(|| self.over.then(|| Event::Ended(disconnected())))
    }

    /// Whether the session is over and the connection can be closed.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// When [`Agent::handle_timeout`] is due.
    pub fn deadline(&mut self) -> Option<Instant> {
        let at = self.state.next_deadline()?;
        Duration::try_from_secs_f64(at / 1_000.0)
            .ok()
            .and_then(|after| self.started.checked_add(after))
    }

    /// Handles a deadline that has passed.
    pub fn handle_timeout(&mut self) {
        self.state.handle_timeout(self.now());
        self.perform();
    }

    /// Handles the loss of the connection.
    pub fn lost(&mut self) {
        self.refused(Failure::disconnected());
        self.perform();
    }

    /// Handles a text frame that has arrived.
    pub fn receive(&mut self, text: &str) {
        self.state.heard(self.now());
        match serde_json::from_str::<Value>(&mended(text)) {
            Ok(envelope) => self.read(&envelope),
            Err(error) => self.unreadable(text, &error),
        }
        self.perform();
    }

    fn read(&mut self, envelope: &Value) {
        let refuses = envelope["type"] == abp::kind::ERROR && envelope["id"] == INITIALIZE;
        if refuses || envelope["type"] == abp::kind::INITIALIZE_RESULT {
            return self.initialized(envelope["payload"].clone());
        }
        abp::receive(&mut self.state, envelope);
    }

    /// Handles a message that cannot be read. If the message is an answer, the request fails and does not
    /// wait any longer.
    fn unreadable(&mut self, text: &str, error: &serde_json::Error) {
        tracing::warn!(%error, "an app's message cannot be read");
        let id = Subject::peek(text, &Limits::default()).id;
        let id: Option<Value> = id.and_then(|id| serde_json::from_str(&id).ok());
        let message = format!("The answer cannot be read: {error}");
        let lost = Failure::new(Code::TRANSPORT_ERROR, message);
        if id == Some(INITIALIZE.into()) {
            self.refused(lost);
        } else if let Some(key) = id.as_ref().and_then(abp::request_key) {
            let response = json!({ "success": false, "error": lost.body() });
            self.state.refused(key, Some(response));
        }
    }

    fn initialized(&mut self, mut session: Value) {
        if session["error"].is_object() {
            self.refused(Failure::of_app(session["error"].take()));
        } else if self.session.is_none() {
            self.session = Some(Ok(session));
        }
    }

    /// The session was refused or is over.
    fn refused(&mut self, error: Failure) {
        self.session.get_or_insert(Err(error));
        self.state.disconnected();
    }

    /// Does what the state asks for, in order.
    fn perform(&mut self) {
        while let Some(action) = self.state.poll_action() {
            match action {
                Action::Wake => self.state.flush(self.now()),
                Action::Send(key, request) => {
                    let envelope = abp::request(key, request, unix());
                    self.outgoing.push_back(envelope.to_string());
                }
                Action::Settle(_, settled) => {
                    let response = abp::settled(settled);
                    self.events.push_back(Event::Ended(response));
                }
                Action::SettleCancel(_, outcome) => {
                    let confirmation = abp::confirmation(&self.call, outcome);
                    self.events.push_back(Event::Cancelled(confirmation));
                }
                Action::Progress(_, info) => self.events.push_back(Event::Progress(info)),
                Action::Lost | Action::Closed(_) => self.over = true,
            }
        }
    }

    fn now(&self) -> Millis {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }
}

fn unix() -> Millis {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH);
    unix.unwrap_or_default().as_millis() as Millis
}

#[cfg(test)]
mod tests;
