//! The methods of requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use super::greeting::Greeting;
use super::peer::Peer;
use crate::broker::CapabilityInfo;
use crate::fronts::lists::ListTurn;
use crate::fronts::refusal::Refusal;
use crate::fronts::rpc::{Request, next_cancelled};
use crate::gateway::calls::{Call, CancelNotice, NewCall};
use crate::gateway::{Outcome, Step};
use crate::wire::abp::{self, Called};
use crate::wire::json_rpc::{self as message, Id, RpcError, code};
use crate::wire::{Json, clipped};
use caphost::call::{Code, Error};

/// The notification that the capabilities have changed.
const LIST_CHANGED: &str = "_capabilities/list_changed";
/// How many apps an error names.
const MAX_NAMED: usize = 10;
/// How many characters of a capability's name an answer may contain.
const NAME_CHARS: usize = 256;

impl Peer {
    /// `initialize` is answered at once, so there is nothing to cancel.
    pub fn initialize(self: &Arc<Self>, id: &Id, params: Option<&Value>) {
        let greeting = match Greeting::read(params) {
            Ok(greeting) => greeting,
            Err(error) => return self.fail(id, &error),
        };
        let (answer, notices, changes) = (greeting.answer(), greeting.notices, greeting.changes);
        if self.greeting.set(greeting).is_err() {
            let error = Error::new(Code::ALREADY_INITIALIZED, "initialize was answered before");
            return self.refuse(Some(id.value()), code::INVALID_REQUEST, &error);
        }
        self.begin_anew();
        if notices {
            self.until_gone(tell_of_cancels(self.clone(), self.hub.cancellations()));
        }
        if changes {
            self.until_gone(tell_of_changes(self.clone()));
        }
        self.send_text(message::success(id.value(), &answer));
    }

    /// `shutdown` cancels the requests in flight, and is answered after they have ended.
    pub fn begin_shutdown(self: &Arc<Self>, request: Request) {
        let _ = self.shut_down.set(());
        let id = request.id.clone();
        drop(request);
        let reason = "The session is shut down";
        self.in_flight.cancel_each(|_| true, reason, true);
        let peer = self.clone();
        self.until_gone(async move {
            peer.in_flight.over().await;
            peer.send_text(message::success(id.value(), &Value::Null));
        });
    }

    /// `exit`. Lists that wait for their turn are still answered.
    pub fn exit(self: &Arc<Self>) {
        let peer = self.clone();
        self.until_gone(async move {
            peer.in_flight.but_calls_over().await;
            peer.close();
        });
    }

    /// `_capabilities/list` is answered at once, unless a list of the same holder is being made for another
    /// connection.
    pub fn list(self: &Arc<Self>, request: Request) {
        if let Some(turn) = self.lists.turn_now(&self.quota_key) {
            return self.send_text(self.listed(turn, &request.id));
        }
        if self.refuse_if_full(&request.id) {
            return;
        }
        let peer = self.clone();
        self.until_gone(async move {
            let turn = peer.lists.turn_of(&peer.quota_key).await;
            let answer = peer.listed(turn, &request.id);
            request.end(|| peer.send_text(answer));
        });
    }

    /// The answer to a `_capabilities/list` that has its turn.
    fn listed(&self, turn: Result<ListTurn, Refusal>, id: &Id) -> String {
        let offered = turn.map_err(|refusal| refusal.error).and_then(|turn| {
            let all = self.hub.assortment(self.app.as_deref())?;
            let mut offers = all.offers().iter();
            match offers.all(|offer| self.owner.may_reach(&offer.app.id)) {
                true => Ok((turn, all)),
                false => {
                    let message = "The token is for another app";
                    Err(Error::new(Code::PERMISSION_DENIED, message))
                }
            }
        });
        let (turn, all) = match offered {
            Ok(offered) => offered,
            Err(error) => return message::failed(id.value(), &error).to_string(),
        };
        let documents = all.capabilities().into_iter();
        let documents: Vec<_> = documents.map(|(name, it)| document(&name, it)).collect();
        let result = BTreeMap::from([("capabilities", documents)]);
        let answer = message::success(id.value(), &result);
        turn.end(answer.len());
        answer
    }

    /// Refuses a request if too many are in flight with it. Returns whether the request was refused.
    fn refuse_if_full(&self, id: &Id) -> bool {
        let max = self.hub.limits.in_flight;
        let is_full = self.in_flight.len() > max;
        if is_full {
            let message = format!("{max} requests are in flight, and no more are accepted");
            let details = json!({ "limit": "inFlight", "max": max });
            let error = Error::new(Code::RATE_LIMITED, message).with_details(details);
            self.fail(id, &error);
        }
        is_full
    }

    /// `_capabilities/call`
    pub fn call(self: &Arc<Self>, request: Request, params: Option<&str>) {
        let id = &request.id;
        let params = Json::from(params.unwrap_or_default().to_string());
        let (called, params) = match abp::read_call(&params) {
            Ok(read) => read,
            Err(error) => return self.fail(id, &error),
        };
        let Called {
            call,
            capability,
            timeout,
            token,
        } = called;
        let max = self.hub.limits.id_bytes;
        if token.as_ref().is_some_and(|it| it.to_string().len() > max) {
            let message = format!("The progress token has more than {max} bytes");
            return self.fail(id, &Error::<Value>::invalid_params(message));
        }
        if self.refuse_if_full(id) {
            return;
        }
        let named = clipped(&capability, NAME_CHARS).to_string();
        let (app, capability) = match self.meant(capability) {
            Ok(meant) => meant,
            Err(error) => return self.fail(id, &error),
        };
        let called = self.session(app).call(NewCall {
            capability,
            params: Some(params),
            // A timeout that is too long to represent counts as no timeout.
            timeout: timeout.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()),
            dialect_id: Some(id.plain()),
            call_id: call,
            progress: token.is_some(),
            ..NewCall::default()
        });
        request.becomes(&called);
        let calling = Calling {
            peer: self.clone(),
            request,
            capability: named,
            token,
        };
        self.until_gone(calling.run(called));
    }
}

impl Peer {
    /// The app that a call goes to, and the name of the capability there.
    fn meant(&self, capability: String) -> Result<(Option<String>, String), Error<Value>> {
        // The call itself finds out that there is no such app.
        let all = match self.hub.assortment(self.app.as_deref()) {
            Ok(all) if self.app.is_none() => all,
            _ => return Ok((self.app.clone(), capability)),
        };
        if let Some((offer, found)) = all.capability(&capability) {
            return Ok((Some(offer.app.id.clone()), found.name.clone()));
        }
        let offers = all.offers().iter();
        let same = offers.filter(|offer| offer.named(&capability).is_some());
        let same: Vec<_> = same.take(MAX_NAMED).map(|offer| &*offer.app.id).collect();
        let gone = || self.hub.departed(&capability, &self.owner);
        if let Some(gone) = same.is_empty().then(gone).flatten() {
            return Err(Error::new(Code::DISCONNECTED, gone.message.clone()));
        }
        if let Some(only) = all.only() {
            return Ok((Some(only.app.id.clone()), capability));
        }
        let name = clipped(&capability, NAME_CHARS);
        let message = match &*same {
            [] => format!("No app offers a capability {name:?}"),
            apps => format!(
                "Several apps offer {name:?}: put the app's id and a dot before it, one of {}",
                apps.join(", ")
            ),
        };
        Err(Error::new(Code::UNKNOWN_CAPABILITY, message))
    }
}

/// A call whose answer the peer waits for.
struct Calling {
    peer: Arc<Peer>,
    request: Request,
    /// The name of the capability, which may be shortened.
    capability: String,
    token: Option<Value>,
}

impl Calling {
    /// Tells the peer the progress and the end of the call. Dropping the future drops the call, and so
    /// cancels it.
    async fn run(self, mut call: Call) {
        let peer = &self.peer;
        while let Some(step) = self.request.next(&mut call).await {
            match (step, &self.token) {
                (Step::Progress(info), Some(token)) => {
                    peer.send(&message::progress(token, info));
                }
                (Step::Progress(_), None) => {}
                (Step::Question(number, request), _) => {
                    peer.ask(&call, &self.request.id, number, request);
                }
                (Step::Withdrawn(number), _) => peer.withdraw(call.id, number),
                (Step::Ended(outcome), _) => {
                    peer.withdraw_all(call.id);
                    let answer = self.answer(outcome);
                    self.request.end(|| peer.send_text(answer));
                    break;
                }
            }
        }
        // The peer may have given the call up.
        peer.withdraw_all(call.id);
        let call_id = call.call_id().to_string();
        if let Some(end) = call.late_end().await {
            peer.send(&message::ended(self.request.id.value(), &call_id, end));
        }
    }

    fn answer(&self, outcome: Outcome) -> String {
        #[derive(Serialize)]
        struct Done {
            data: Option<Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            metadata: Option<Json>,
        }
        let id = self.request.id.value();
        match outcome {
            Outcome::Done { data, metadata } => message::success(id, &Done { data, metadata }),
            Outcome::Failed(error) => {
                let code = message::rpc_code(&error.code);
                let body = error.body.value().unwrap_or_default();
                let error = RpcError::of_abp(code, &body);
                error.answer(id).to_string()
            }
            Outcome::Cancelled { stop, by, .. } => {
                message::cancelled(&self.request.id, &self.capability, stop, by).to_string()
            }
        }
    }
}

/// The `Capability` in the form that ABP has for agents.
fn document(name: &str, info: &CapabilityInfo) -> Value {
    let schema = |raw: &Option<Box<RawValue>>| serde_json::from_str(raw.as_deref()?.get()).ok();
    let (input, output) = (schema(&info.input_schema), schema(&info.output_schema));
    abp::capability(name, info.description.as_deref(), input, output)
}

/// From now on, tells the peer of every cancel through the cancellation API, as `notifications/cancelled`.
/// Omits cancels of runs that the peer may not see.
async fn tell_of_cancels(peer: Arc<Peer>, mut cancels: Receiver<CancelNotice>) {
    while let Some(notice) = next_cancelled(&mut cancels, &peer.owner).await {
        peer.send(&notice);
    }
}

/// From now on, tells the peer when the capabilities that it may list have changed.
async fn tell_of_changes(peer: Arc<Peer>) {
    let app = peer.app.as_deref();
    let offered = || (peer.hub.assortment(app)).map_or(0, |all| all.fingerprint());
    let mut changes = peer.hub.offer_changes(app);
    changes.mark_unchanged();
    let mut known = offered();
    while changes.changed().await.is_ok() {
        let now = offered();
        if std::mem::replace(&mut known, now) != now {
            peer.send(&message::notification(LIST_CHANGED, json!({})));
        }
    }
}
