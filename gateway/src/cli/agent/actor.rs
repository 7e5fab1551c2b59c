//! The task that owns an agent's state.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::{Hello, Patience};
use crate::gateway::calls::NewCall;
use crate::gateway::{AbpError, Confirmation, Outcome, Step};
use crate::limits::Limits;
use crate::wire::abp;
use crate::wire::{Subject, mended};
use caphost::agent::{Action, AgentOptions, AgentState, Outgoing, RequestKey};
use caphost::call::{CallId, Code, Millis};

/// The id of the one request that the state knows nothing of.
const INITIALIZE: &str = "initialize";

/// What callers ask for.
#[derive(Debug)]
pub(super) enum Command {
    Call(CallId, NewCall, Caller),
    Cancel(CallId, Option<String>, oneshot::Sender<Confirmation>),
    Shutdown(Option<String>),
}

/// Who waits for a call.
type Caller = mpsc::UnboundedSender<Step>;
type Said = watch::Sender<Option<Result<Arc<Value>, AbpError>>>;

pub(super) struct Actor {
    state: AgentState<Value>,
    started: Instant,
    patience: Patience,
    send: Box<dyn FnMut(String) + Send>,
    session: Said,
    /// Calls wait until it has one.
    open: bool,
    calls: HashMap<RequestKey, Caller>,
    cancels: HashMap<RequestKey, oneshot::Sender<Confirmation>>,
    over: bool,
}

impl Actor {
    pub(super) fn new(
        patience: Patience,
        send: Box<dyn FnMut(String) + Send>,
        session: Said,
    ) -> Self {
        let options = AgentOptions {
            grace: patience.grace.as_secs_f64() * 1_000.0,
            ..AgentOptions::default()
        };
        Actor {
            state: AgentState::new(options),
            started: Instant::now(),
            patience,
            send,
            session,
            open: false,
            calls: HashMap::new(),
            cancels: HashMap::new(),
            over: false,
        }
    }

    pub(super) async fn run(
        mut self,
        hello: Hello,
        mut callers: mpsc::UnboundedReceiver<Command>,
        mut app: mpsc::UnboundedReceiver<String>,
    ) {
        self.hello(&hello);
        let give_up = self.started + self.patience.initialize;
        let mut wanted = true;
        while !self.over {
            let next = self.state.next_deadline();
            let next = next.map_or(give_up + FAR, |at| self.started + millis(at));
            tokio::select! {
                // Answers first: a cancel must not overtake the response that has come before it.
                biased;
                text = app.recv() => match text {
                    Some(text) => self.receive(&text),
                    None => self.lost(),
                },
                command = callers.recv(), if wanted => match command {
                    Some(command) => self.command(command),
                    None => {
                        wanted = false;
                        if self.open {
                            self.state.shutdown(None, self.now());
                        } else {
                            self.lost();
                        }
                    }
                },
                () = sleep_until(next) => self.state.handle_timeout(self.now()),
                () = sleep_until(give_up), if !self.open => {
                    let message = "The app did not answer `initialize` in time";
                    self.refused(AbpError::new(Code::TIMEOUT, message));
                }
            }
            self.perform();
        }
        callers.close();
        while let Some(command) = callers.recv().await {
            self.turn_away(command);
        }
    }

    fn hello(&mut self, hello: &Hello) {
        let payload = json!({
            "agent": { "name": hello.name, "version": hello.version },
            "protocolVersion": abp::VERSION,
            "features": { "notifications": true, "progress": true, "elicitation": false },
        });
        let id = Value::from(INITIALIZE);
        let envelope = abp::envelope(abp::kind::INITIALIZE, Some(&id), unix(), &payload);
        (self.send)(envelope.to_string());
    }

    fn command(&mut self, command: Command) {
        let now = self.now();
        match command {
            Command::Call(id, call, caller) => {
                let key = self.state.call(Outgoing {
                    id,
                    capability: call.capability,
                    params: call.params,
                    timeout: call.timeout.map(|it| it.as_secs_f64() * 1_000.0),
                    progress: call.progress,
                    transfer: false,
                });
                self.calls.insert(key, caller);
            }
            Command::Cancel(id, reason, confirm) => {
                let key = self.state.cancel(id, reason, now);
                self.cancels.insert(key, confirm);
            }
            Command::Shutdown(reason) => self.state.shutdown(reason, now),
        }
    }

    fn receive(&mut self, text: &str) {
        let envelope = match serde_json::from_str::<Value>(&mended(text)) {
            Ok(envelope) => envelope,
            Err(error) => return self.unreadable(text, &error),
        };
        let Some((id, message)) = abp::read_from_app(&envelope) else {
            tracing::debug!("an app's message makes no sense");
            return;
        };
        self.state.heard(self.now());
        let key = id.as_ref().and_then(abp::request_key);
        match (message, key) {
            (abp::FromApp::Initialized(session), _) => self.initialized(session),
            (abp::FromApp::Refused(payload), None)
                if id == Some(INITIALIZE.into()) && !self.open =>
            {
                self.initialized(payload);
            }
            (
                abp::FromApp::Called {
                    response: Some(response),
                    stop: None,
                },
                Some(key),
            ) if leaves_open(&response) => self.state.called_undecided(key, response),
            (abp::FromApp::Called { response, stop }, Some(key)) => {
                self.state.called(key, response, stop)
            }
            (abp::FromApp::Ended(call, end), _) => self.state.ended(&call, end),
            (
                abp::FromApp::Cancelled {
                    confirmed,
                    reason,
                    error,
                },
                Some(key),
            ) => {
                let lost = error.as_ref().is_some_and(says_no_session);
                self.state.cancelled(key, confirmed, reason, error, lost);
            }
            (abp::FromApp::Refused(payload), Some(key)) => {
                let is_response = payload["success"].is_boolean();
                self.state.refused(key, is_response.then_some(payload));
            }
            (abp::FromApp::ShutDown, _) => self.state.shut_down(),
            (abp::FromApp::Progress(operation, info), _) => self.state.progress(&operation, info),
            _ => {}
        }
    }

    /// A message that cannot be read. If it answers something, that is not left waiting.
    fn unreadable(&mut self, text: &str, error: &serde_json::Error) {
        tracing::warn!(%error, "an app's message cannot be read");
        self.state.heard(self.now());
        let id = Subject::peek(text, &Limits::default()).id;
        let id: Option<Value> = id.and_then(|id| serde_json::from_str(&id).ok());
        let message = format!("The answer cannot be read: {error}");
        let lost = AbpError::new(Code::TRANSPORT_ERROR, message);
        if id == Some(INITIALIZE.into()) && !self.open {
            return self.refused(lost);
        }
        if let Some(key) = id.as_ref().and_then(abp::request_key) {
            let response = json!({ "success": false, "error": lost.body });
            self.state.refused(key, Some(response));
        }
    }

    fn initialized(&mut self, session: Value) {
        if self.open {
            return;
        }
        if session["error"].is_object() {
            return self.refused(AbpError::read(session["error"].clone()));
        }
        self.open = true;
        self.session.send_replace(Some(Ok(Arc::new(session))));
        self.state.flush(self.now());
    }

    /// Settles what was asked for too late. Of a call that has ended it is still told how.
    fn turn_away(&mut self, command: Command) {
        let error = match &*self.session.borrow() {
            Some(Err(error)) => error.clone(),
            _ => AbpError::disconnected(),
        };
        match command {
            Command::Call(_, _, caller) => drop(caller.send(Step::Ended(Outcome::Failed(error)))),
            Command::Cancel(id, reason, confirm) if self.open => {
                let key = self.state.cancel(id, reason, self.now());
                self.cancels.insert(key, confirm);
                self.perform();
            }
            Command::Cancel(_, _, confirm) => {
                let _ = confirm.send(Confirmation::failed(error));
            }
            Command::Shutdown(_) => {}
        }
    }

    /// There will be no session.
    fn refused(&mut self, error: AbpError) {
        let mut keys: Vec<_> = self.calls.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            if let Some(caller) = self.calls.remove(&key) {
                let _ = caller.send(Step::Ended(Outcome::Failed(error.clone())));
            }
        }
        self.session.send_replace(Some(Err(error)));
        self.lost();
    }

    fn lost(&mut self) {
        self.session.send_if_modified(|session| {
            let unsaid = session.is_none();
            if unsaid {
                *session = Some(Err(AbpError::disconnected()));
            }
            unsaid
        });
        self.state.disconnected();
    }

    /// Does what the state asks for, in order.
    fn perform(&mut self) {
        while let Some(action) = self.state.poll_action() {
            match action {
                Action::Wake if self.open => self.state.flush(self.now()),
                Action::Wake => {}
                Action::Send(key, request) => {
                    let envelope = abp::request(key, request, unix());
                    (self.send)(envelope.to_string());
                }
                Action::Settle(key, settled) => {
                    let outcome = Outcome::read(abp::settled(settled));
                    if let Some(caller) = self.calls.remove(&key) {
                        let _ = caller.send(Step::Ended(outcome));
                    }
                }
                Action::SettleCancel(key, outcome) => {
                    if let Some(confirm) = self.cancels.remove(&key) {
                        let _ = confirm.send(outcome.into());
                    }
                }
                Action::Progress(key, info) => {
                    if let Some(caller) = self.calls.get(&key) {
                        let _ = caller.send(Step::Progress(info));
                    }
                }
                Action::Closed(_) => self.over = true,
            }
        }
    }

    fn now(&self) -> Millis {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }
}

/// Long enough to be woken by something else.
const FAR: Duration = Duration::from_secs(86_400);

fn millis(at: Millis) -> Duration {
    Duration::from_secs_f64((at / 1_000.0).clamp(0.0, FAR.as_secs_f64() * 365.0))
}

fn unix() -> Millis {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH);
    unix.unwrap_or_default().as_millis() as Millis
}

/// Whether a response says that nobody knows what became of its call.
fn leaves_open(response: &Value) -> bool {
    let code = response["error"]["code"].as_str();
    response["success"] == false && code.is_some_and(Code::leaves_open)
}

fn says_no_session(error: &Value) -> bool {
    let gone = [
        Code::NOT_INITIALIZED,
        Code::SESSION_EXPIRED,
        Code::SESSION_INVALID,
    ];
    gone.iter().any(|code| error["code"] == code.as_str())
}
