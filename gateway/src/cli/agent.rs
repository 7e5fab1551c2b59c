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
mod tests {
    use super::*;

    fn call() -> Outgoing<Value> {
        Outgoing {
            id: CallId::parse("c").unwrap(),
            capability: "a.b".into(),
            params: None,
            timeout: None,
            progress: true,
            transfer: false,
        }
    }

    fn sent(agent: &mut Agent) -> Value {
        let text = agent.outgoing().pop_front().expect("a message");
        serde_json::from_str(&text).unwrap()
    }

    fn answer_hello(agent: &mut Agent, payload: Value) {
        assert_eq!(sent(agent)["type"], "initialize");
        let result = json!({ "type": "initialize-result", "id": "initialize", "payload": payload });
        agent.receive(&result.to_string());
    }

    /// An agent with a call in flight, and the id of the call's request.
    fn calling() -> (Agent, Value) {
        let mut agent = Agent::new(Duration::from_secs(5));
        answer_hello(&mut agent, json!({ "sessionId": "s" }));
        agent.call(call());
        let request = sent(&mut agent);
        assert_eq!(request["payload"]["options"]["callId"], "c");
        (agent, request["id"].clone())
    }

    fn answer_call(agent: &mut Agent, id: &Value, payload: &Value) {
        let result = json!({ "type": "capabilities/call-result", "id": id, "payload": payload });
        agent.receive(&result.to_string());
    }

    #[test]
    fn a_call_ends_with_its_response() {
        let (mut agent, id) = calling();
        assert_eq!(agent.next_event(), None);
        answer_call(&mut agent, &id, &json!({ "success": true, "data": 1 }));
        let done = json!({ "success": true, "data": 1 });
        assert_eq!(agent.next_event(), Some(Event::Ended(done)));
        assert_eq!(agent.session().unwrap().as_ref().unwrap()["sessionId"], "s");
    }

    #[test]
    fn a_refused_session_has_the_apps_error() {
        let mut agent = Agent::new(Duration::from_secs(5));
        let error = json!({ "code": "RATE_LIMITED", "message": "full", "retryable": true });
        answer_hello(&mut agent, json!({ "error": error.clone() }));
        let refused = agent.session().unwrap().as_ref().unwrap_err();
        assert_eq!(*refused.body(), error);
        assert!(agent.is_over());
    }

    #[test]
    fn an_answer_that_cannot_be_read_ends_what_it_answers() {
        let mut agent = Agent::new(Duration::from_secs(5));
        agent.receive(r#"{"type":"initialize-result","id":"initialize","payload":{"#);
        let refused = agent.session().unwrap().as_ref().unwrap_err();
        assert_eq!(refused.code(), "TRANSPORT_ERROR");
        let (mut agent, id) = calling();
        agent.receive(&format!(r#"{{"type":"x","id":{id},"payload":{{"#));
        let Some(Event::Ended(response)) = agent.next_event() else {
            panic!("the call is over")
        };
        assert_eq!(response["error"]["code"], "TRANSPORT_ERROR");
    }

    #[test]
    fn a_lost_connection_settles_everything() {
        let (mut agent, _) = calling();
        agent.cancel(call().id, None);
        agent.lost();
        let events: Vec<_> = std::iter::from_fn(|| agent.next_event()).take(3).collect();
        let ended =
            |it: &Event| matches!(it, Event::Ended(it) if it["error"]["code"] == "DISCONNECTED");
        assert!(events.iter().any(ended), "{events:?}");
        let refused = |it: &Event| matches!(it, Event::Cancelled(it) if it["cancelled"] == false);
        assert!(events.iter().any(refused), "{events:?}");
    }

    #[test]
    fn a_cancel_that_a_disconnect_overtakes_is_told_how_its_call_has_ended_if_that_is_known() {
        let failed = |code| json!({ "success": false, "error": { "code": code, "message": "" } });
        let completed = Some("Operation already completed");
        for (payload, reason, code) in [
            (json!({ "success": true }), completed, None),
            (failed("OPERATION_FAILED"), completed, None),
            (json!({ "success": false, "cancelled": true }), None, None),
            (failed("DISCONNECTED"), None, Some("DISCONNECTED")),
            (failed("TIMEOUT"), None, Some("DISCONNECTED")),
        ] {
            let (mut agent, id) = calling();
            answer_call(&mut agent, &id, &payload);
            agent.cancel(call().id, None);
            agent.lost();
            let mut events = std::iter::from_fn(|| agent.next_event()).take(3);
            let it = events.find_map(|event| match event {
                Event::Cancelled(it) => Some(it),
                Event::Progress(_) | Event::Ended(_) => None,
            });
            let it = it.expect("the cancel is answered");
            assert_eq!(it["callId"], "c");
            assert_eq!(it["cancelled"], payload["cancelled"] == true, "{payload}");
            assert_eq!(it["error"]["code"].as_str(), code, "{payload}");
            let said = it["reason"].as_str().filter(|_| code.is_none());
            assert_eq!(said, reason, "{payload}");
        }
    }
}
