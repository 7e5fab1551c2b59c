//! Calls that wait for an answer of a client without a session. Such a client is answered with the questions of its
//! call and with a state, and sends another request with the answers and that state. The state is sealed: only
//! its own client can go on with the call, and only once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;

use super::caller::Caller;
use super::questions::{input_required, key_of, payload_of_result};
use super::request::Request;
use super::sealing::{Sealed, Seals, Unopened, number_of};
use crate::broker::calls::RunId;
use crate::fronts::idle::look_after;
use crate::gateway::Hub;
use crate::wire::json_rpc::{RpcError, code};

/// What a state says: the call that it is of.
#[derive(Deserialize, Serialize)]
struct State {
    run: RunId,
}

impl Sealed for State {
    const PURPOSE: &[u8] = b"caphost: calls of MCP that wait, 1";
}

/// A call that may wait for answers of its client.
pub trait Parkable: Send + 'static {
    /// Whether the client has called the tool by that name.
    fn is_called(&self, name: &str) -> bool;

    /// The call goes on in that request, whose answers go to the app. What is not answered is asked again.
    fn resume(&mut self, request: &Request<'_>, answers: &Map<String, Value>);

    /// The client has not answered in time.
    fn expire(self);
}

/// The calls that wait.
pub struct Parked<C> {
    hub: Arc<Hub>,
    seals: Arc<Seals>,
    patience: Duration,
    /// The calls by the numbers of their states, and until when they wait.
    calls: Mutex<HashMap<Uuid, (C, Instant)>>,
}

/// The questions of one call that its client has not answered.
pub struct Asks<C> {
    parked: Weak<Parked<C>>,
    caller: Caller,
    forms: Vec<(u64, Value)>,
}

/// The place of a call that is about to wait.
pub struct Ticket<C> {
    parked: Option<Arc<Parked<C>>>,
    number: Uuid,
    /// The result for the client.
    pub result: Value,
}

impl<C: Parkable> Parked<C> {
    /// No calls. A call waits for `patience`, and is then cancelled.
    pub fn new(hub: Arc<Hub>, seals: Arc<Seals>, patience: Duration) -> Arc<Self> {
        let parked = Arc::new(Parked::<C> {
            hub,
            seals,
            patience,
            calls: Mutex::default(),
        });
        look_after(&parked, patience, "parked calls", &parked.hub, |parked| {
            let now = Instant::now();
            let mut calls = parked.calls.lock();
            let expired: Vec<_> = calls.extract_if(|_, (_, until)| *until <= now).collect();
            drop(calls);
            for (_, (call, _)) in expired {
                call.expire();
            }
        });
        parked
    }

    /// No questions yet, of a call of that client.
    pub fn asks(self: &Arc<Self>, caller: &Caller) -> Asks<C> {
        // The client may name the app in the next request, once it knows the app.
        let caller = Caller {
            app: None,
            tools: None,
            coerce: false,
            ..caller.clone()
        };
        Asks {
            parked: Arc::downgrade(self),
            caller,
            forms: Vec::new(),
        }
    }

    /// The call of that state, which goes on with the answers in the request.
    pub fn resume(
        self: &Arc<Self>,
        caller: &Caller,
        state: &str,
        request: &Request<'_>,
    ) -> Result<C, RpcError> {
        let refused = |what: &str| RpcError::new(code::INVALID_PARAMS, what);
        let caller = self.asks(caller).caller;
        let opened = self.seals.open::<State>(state, &caller);
        let State { run } = opened.map_err(|unopened| {
            refused(match unopened {
                Unopened::Foreign => "`requestState` is not one that this gateway has given you",
                Unopened::Unsure => "`requestState` cannot be read at the moment: try again",
            })
        })?;
        let answers = request.answers()?;
        let over = || match run.is_of(self.hub.process) {
            true => {
                "The call of this `requestState` does not wait for an answer: it was answered before, or the time for the answer is over"
            }
            false => {
                "The call of this `requestState` waits on another worker of the gateway, or was lost with that worker"
            }
        };
        let number = number_of(state).ok_or_else(|| refused(over()))?;
        let mut calls = self.calls.lock();
        let named = request.name().unwrap_or_default();
        let is_named = calls.get(&number).map(|(it, _)| it.is_called(&named));
        match is_named {
            None => return Err(refused(over())),
            Some(false) => {
                return Err(refused(
                    "The call of this `requestState` is of another tool",
                ));
            }
            Some(true) => {}
        }
        let Some((mut call, _)) = calls.remove(&number) else {
            return Err(refused(over()));
        };
        drop(calls);
        call.resume(request, &answers);
        Ok(call)
    }
}

impl<C: Parkable> Asks<C> {
    /// The app asks that question.
    pub fn ask(&mut self, number: u64, form: Value) {
        self.forms.push((number, form));
    }

    /// The app takes a question back.
    pub fn withdraw(&mut self, number: u64) {
        self.forms.retain(|(it, _)| *it != number);
    }

    /// Whether questions wait for answers.
    pub fn is_asking(&self) -> bool {
        !self.forms.is_empty()
    }

    /// The questions that are answered, with the payloads for the app. An answer that cannot be read is none.
    pub fn answered(&mut self, answers: &Map<String, Value>) -> Vec<(u64, String)> {
        let mut answered = Vec::new();
        self.forms.retain(|(number, _)| {
            let payload = answers.get(&key_of(*number)).and_then(payload_of_result);
            let is_open = payload.is_none();
            answered.extend(payload.map(|it| (*number, it)));
            is_open
        });
        answered
    }

    /// A place for the call, which is that of the run.
    pub fn ticket(&self, run: RunId) -> Ticket<C> {
        let parked = self.parked.upgrade();
        let sealed = parked
            .as_ref()
            .map(|it| it.seals.seal(&self.caller, &State { run }));
        let (number, state) = sealed.unwrap_or_default();
        Ticket {
            parked,
            number,
            result: input_required(&self.forms, &state),
        }
    }
}

impl<C: Parkable> Ticket<C> {
    /// The call waits from now on.
    pub fn keep(self, call: C) {
        if let Some(parked) = self.parked {
            let until = Instant::now() + parked.patience;
            parked.calls.lock().insert(self.number, (call, until));
        }
    }
}
