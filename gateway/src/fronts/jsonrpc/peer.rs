//! One peer: its messages, and its requests in flight.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tungstenite::Utf8Bytes;

use super::Jsonrpc;
use super::greeting::{Greeting, Takes};
use crate::bounds::{Pace, Permit, QuotaKey};
use crate::broker::calls::{Dialect, RunId};
use crate::broker::{CloseCode, STOPPING};
use crate::fronts::lists::Listing;
use crate::fronts::rpc::InFlight;
use crate::fronts::socket::Endpoint;
use crate::gateway::calls::{Client, Session};
use crate::gateway::lifecycle::Phase;
use crate::gateway::{Counted, Hub, Outbox, Pushed};
use crate::tokens::Identity;
use crate::wire::json_rpc::{
    self, Cancel, Id, Message, Unreadable, code, method, read, read_cancel,
};
use crate::wire::{Failure, Outgoing, Subject, check_length, clipped, mended, not_text, outline};
use caphost::call::{Code, Error};

/// One connection.
pub(super) struct Peer {
    pub hub: Arc<Hub>,
    pub owner: Identity,
    /// The app id that the peer asked for.
    pub app: Option<String>,
    pub in_flight: Arc<InFlight>,
    /// Cancelled when the connection ends.
    gone: CancellationToken,
    outbox: Arc<Outbox>,
    /// The peer's place in the limit of connections.
    _room: Permit,
    rate: Pace,
    /// The holder of the connection.
    pub quota_key: QuotaKey,
    pub lists: Arc<Listing>,
    pub greeting: OnceLock<Greeting>,
    /// The questions of apps that the peer was asked and has not answered yet: the run and the number of each.
    pub asked: Mutex<HashSet<(RunId, u64)>>,
    /// Set when the peer has asked to shut down. Further requests are refused.
    pub shut_down: OnceLock<()>,
    /// The sessions with apps, by the names of the apps.
    sessions: Mutex<HashMap<Option<String>, Session>>,
}

impl Peer {
    pub fn new(
        shared: Jsonrpc,
        owner: Identity,
        quota_key: QuotaKey,
        room: Permit,
        app: Option<String>,
        outbox: Arc<Outbox>,
    ) -> Arc<Self> {
        let Jsonrpc { hub, lists, .. } = shared;
        let rate = hub.limits.requests_per_second;
        // A token for one app only names this app.
        let app = app.or_else(|| owner.app.as_deref().map(String::from));
        Arc::new(Peer {
            hub,
            owner,
            app,
            in_flight: Arc::default(),
            gone: CancellationToken::new(),
            outbox,
            _room: room,
            rate: Pace::new(rate, rate),
            quota_key,
            lists,
            greeting: OnceLock::new(),
            asked: Mutex::default(),
            shut_down: OnceLock::new(),
            sessions: Mutex::default(),
        })
    }

    /// When the gateway stops, closes the connection after the requests in flight have ended.
    pub async fn end_with_gateway(self: Arc<Self>) {
        self.hub.lifecycle.reached(Phase::Stopping).await;
        let settled = self.in_flight.over();
        let _ = timeout(self.hub.limits.close_timeout, settled).await;
        self.outbox.close(CloseCode::GOING_AWAY, STOPPING.into());
    }

    /// Does `work`, unless the connection ends first.
    pub fn until_gone(&self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.gone.clone().run_until_cancelled_owned(work));
    }

    /// Sends a message.
    pub fn send(&self, message: &Value) {
        self.send_text(message.to_string());
    }

    pub fn send_text(&self, message: String) {
        if self.outbox.push(Outgoing::text(message)) == Pushed::Overflow {
            let limit = self.hub.limits.queued_bytes;
            tracing::warn!(limit, "JSON-RPC peer does not read: disconnected");
            let reason = format!("More than {limit} bytes were left unread");
            self.outbox.close(CloseCode::POLICY, reason);
        }
    }

    /// Answers a request with an error of the app or of the connection to the app.
    pub fn fail<D: Borrow<Value>>(&self, id: &Id, error: &Error<D>) {
        self.send(&json_rpc::failed(id.value(), error));
    }

    /// Closes the connection at the peer's request.
    pub fn close(&self) {
        self.outbox.close(CloseCode::NORMAL, String::new());
    }

    /// Refuses a message that is not a valid request.
    pub fn refuse(&self, id: Option<&Value>, code: i32, error: &Failure) {
        self.send(&json_rpc::refused(id.unwrap_or(&Value::Null), code, error));
    }

    /// What the peer has said of itself.
    pub fn greeted(&self) -> Greeting {
        self.greeting.get().cloned().unwrap_or_default()
    }

    /// Further calls are made in sessions of their own, which tell apps what the peer has said of itself by now.
    pub fn begin_anew(&self) {
        let sessions = std::mem::take(&mut *self.sessions.lock());
        drop(sessions);
    }

    /// The peer's session with that app, which the first call opens.
    pub fn session(&self, app: Option<String>) -> Session {
        let mut sessions = self.sessions.lock();
        if let Some(known) = sessions.get(&app) {
            return known.clone();
        }
        // Apps come and go while the peer is connected.
        sessions.retain(|app, _| self.hub.assortment(app.as_deref()).is_ok());
        let Greeting {
            name,
            version,
            takes,
            ..
        } = self.greeted();
        let client = Client {
            dialect: Dialect::JsonRpc,
            owner: self.owner.clone(),
            app: app.clone(),
            name,
            version,
            takes_questions: takes != Takes::Nothing,
        };
        let session = self.hub.open_of(self.quota_key.name(), client);
        sessions.insert(app, session.clone());
        session
    }

    /// Handles a message. Returns the kind that the message counts as.
    fn receive(self: &Arc<Self>, text: &str, bytes: usize) -> Counted {
        let limits = &self.hub.limits;
        if let Err(failure) = check_length(bytes, limits) {
            self.refuse_text(text, failure);
            return Counted::Aside;
        }
        let text = mended(text);
        let message = match read(&text, limits.depth) {
            Ok(message) => message,
            Err(Unreadable { code, id, error }) => {
                self.refuse(id.as_ref().map(Id::value), code, &error);
                return Counted::Aside;
            }
        };
        match message {
            Message::Request { id, method, params } => self.request(id, &method, params),
            Message::Notification { method, params } => {
                self.notified(&method, params);
                Counted::Message
            }
            Message::Response(id, answered) => {
                if let Some(id) = id {
                    self.answered(&id, answered);
                }
                Counted::Aside
            }
            Message::Batch => {
                let error = Error::invalid_params("Batches are not supported: send each by itself");
                self.refuse(None, code::INVALID_REQUEST, &error);
                Counted::Aside
            }
            Message::Invalid { id, fault } => {
                let error = Error::invalid_params(fault.as_str());
                let id = id.as_ref().map(Id::value);
                self.refuse(id, code::INVALID_REQUEST, &error);
                Counted::Aside
            }
        }
    }

    /// Handles a request. Returns the kind that the request counts as.
    fn request(self: &Arc<Self>, id: Id, method: &str, params: Option<&str>) -> Counted {
        let invalid = |message: &'static str| {
            let error = Error::invalid_params(message);
            self.refuse(Some(id.value()), code::INVALID_REQUEST, &error);
            Counted::Refused
        };
        let Ok(request) = self.in_flight.begin(&id) else {
            return invalid("A request with this id is in flight");
        };
        let max = self.hub.limits.id_bytes;
        if id.value().to_string().len() > max {
            let error = Error::invalid_params(format!("The id has more than {max} bytes"));
            self.refuse(None, code::INVALID_REQUEST, &error);
            return Counted::Refused;
        }
        if self.shut_down.get().is_some() {
            return invalid("The session is shut down");
        }
        if let Err(wait) = self.rate.check() {
            let mut error = Error::new(Code::RATE_LIMITED, "Too many requests per second");
            error.retry_after = Some((wait.as_secs_f64() * 1_000.0).ceil());
            let max = self.hub.limits.requests_per_second;
            let details = json!({ "limit": "requestsPerSecond", "max": max });
            self.fail(&id, &error.with_details(details));
            return Counted::Refused;
        }
        match method {
            method::INITIALIZE => {
                let params = params.map(|params| outline(params.as_bytes(), Greeting::READ));
                self.initialize(&id, params.as_ref());
            }
            method::LIST => self.list(request),
            method::CALL => self.call(request, params),
            method::SHUTDOWN => self.begin_shutdown(request),
            _ => {
                let message = format!("There is no method {:?}", clipped(method, 64));
                let error = Error::new(Code::NOT_IMPLEMENTED, message);
                self.refuse(Some(id.value()), code::METHOD_NOT_FOUND, &error);
                return Counted::Refused;
            }
        }
        Counted::Request
    }

    fn notified(self: &Arc<Self>, method: &str, params: Option<&str>) {
        if method == method::EXIT {
            return self.exit();
        }
        if let Some(cancel) = read_cancel(method, params) {
            let Cancel {
                id,
                reason,
                answered,
            } = cancel;
            self.in_flight.cancel(&id, reason, answered);
        }
    }

    /// Refuses a message that is not read completely.
    fn refuse_text(&self, text: &str, failure: Failure) {
        let subject = Subject::peek(text, &self.hub.limits);
        let id = subject.id.and_then(|id| serde_json::from_str(&id).ok());
        self.refuse(id.as_ref(), code::INVALID_REQUEST, &failure);
    }
}

impl Endpoint for Peer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted {
        self.receive(text, bytes)
    }

    /// The rate limit of notifications. The gateway cannot refuse notifications, and a cancel must not be
    /// lost, so a peer that sends too many has to wait. Requests are counted and refused as they come.
    fn rate(&self) -> Option<f64> {
        Some(self.hub.limits.requests_per_second)
    }

    fn binary(&self, _: Bytes, bytes: usize) -> Counted {
        self.refuse(None, code::INVALID_REQUEST, &not_text(bytes));
        Counted::Aside
    }

    /// Cancels the calls, because nobody waits for them any more. The agent leaves the app.
    fn gone(&self) {
        self.gone.cancel();
        let sessions = std::mem::take(&mut *self.sessions.lock());
        drop(sessions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::Budget;
    use crate::gateway::OutboxStep;
    use crate::limits::Limits;
    use crate::tokens::Tokens;

    #[tokio::test]
    async fn a_list_that_waits_for_its_turn_is_in_flight_and_answered_before_an_exit() {
        let hub = Arc::new(Hub::new(Limits::default(), Tokens::default()));
        let shared = Jsonrpc {
            room: Budget::new(1, 1),
            lists: Listing::of_offers(hub.clone()),
            hub: hub.clone(),
        };
        let quota_key = QuotaKey::Token("a".into());
        let room = shared.room.take(&quota_key, 1).unwrap();
        let outbox = hub.queue(&"a".into()).outbox.clone();
        let owner = Identity::anyone();
        let peer = Peer::new(shared, owner, quota_key, room, None, outbox.clone());
        let turn = peer.lists.turn_now(&peer.quota_key);
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"_capabilities/list"}"#;
        for message in [list, list, r#"{"jsonrpc":"2.0","method":"exit"}"#] {
            peer.receive(message, message.len());
        }
        let mut errors = Vec::new();
        drop(turn);
        loop {
            match outbox.next().await {
                OutboxStep::Message(message, _) => {
                    let message: Value = serde_json::from_str(&message.into_text()).unwrap();
                    errors.push(message["error"]["data"]["code"].clone());
                }
                OutboxStep::Close(code, _) => {
                    assert_eq!(code, CloseCode::NORMAL);
                    break;
                }
            }
        }
        // The second request has the id of the first. The first request finds no app.
        assert_eq!(errors, ["INVALID_PARAMS", "DISCONNECTED"]);
    }
}
