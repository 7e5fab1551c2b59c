//! What each method does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::greeting::Greeting;
use super::peer::Peer;
use crate::broker::CapabilityInfo;
use crate::fronts::lists::Turn;
use crate::fronts::refusal::Refusal;
use crate::gateway::calls::{AbpError, Call, CancelNotice, NewCall, Outcome, Step};
use crate::seldom::Seldom;
use crate::wire::abp::{self, FromAgent};
use crate::wire::json_rpc::{self as message, Id, RpcError, code};
use crate::wire::{Json, members, outline};
use caphost::call::{Code, Error, Stop};

impl Peer {
    /// `initialize`. Answered at once, so there is nothing to cancel.
    pub fn initialize(self: &Arc<Self>, id: &Id, params: Option<&Value>) {
        let greeting = match Greeting::read(params) {
            Ok(greeting) => greeting,
            Err(error) => return self.fail(id, &error),
        };
        let (answer, notices) = (greeting.answer(), greeting.notices);
        if !self.greeted(greeting) {
            let error = Error::new(Code::ALREADY_INITIALIZED, "initialize was answered before");
            return self.refuse(Some(id.value()), code::INVALID_REQUEST, &error);
        }
        if notices {
            tokio::spawn(tell_of_cancels(self.clone(), self.hub.cancellations()));
        }
        self.send_text(message::success(id.value(), &answer));
    }

    /// `shutdown`: cancels what is in flight, and is answered after that.
    pub fn begin_shutdown(self: &Arc<Self>, id: Id) {
        self.shut_down();
        self.in_flight.begin(id.clone(), None);
        self.in_flight.cancel_all("The session is shut down");
        let peer = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = peer.gone.cancelled() => return,
                () = peer.in_flight.calls_over() => {}
            }
            let answer = message::success(id.value(), &Value::Null);
            peer.in_flight.end(&id, || peer.send_text(answer));
        });
    }

    /// `_capabilities/list`. Answered at once, unless another connection of the same holder has its list
    /// made.
    pub fn list(self: &Arc<Self>, id: Id) {
        let place = &self.place;
        if let Some(turn) = place.lists.turn_now(&place.holder) {
            return self.list_in(turn, &id);
        }
        let peer = self.clone();
        tokio::spawn(async move {
            let place = &peer.place;
            tokio::select! {
                () = peer.gone.cancelled() => {}
                turn = place.lists.turn_of(&place.holder) => peer.list_in(turn, &id),
            }
        });
    }

    fn list_in(&self, turn: Result<Turn, Refusal>, id: &Id) {
        let turn = match turn {
            Ok(turn) => turn,
            Err(refusal) => return self.fail(id, &refusal.error),
        };
        let offer = self.hub.offer(self.app.as_deref());
        let offer = offer.map_err(|error| AbpError::from(&error));
        let offer = offer.and_then(|offer| match self.owner.may_reach(&offer.app.id) {
            true => Ok(offer),
            false => {
                let message = "The token is for another app";
                Err(AbpError::new(Code::PERMISSION_DENIED, message))
            }
        });
        match offer {
            Ok(offer) => {
                let documents: Vec<_> = offer.capabilities.iter().map(document).collect();
                let result = BTreeMap::from([("capabilities", documents)]);
                let answer = message::success(id.value(), &result);
                turn.end(answer.len());
                self.send_text(answer);
            }
            Err(error) => self.send(&failed(id, &error)),
        }
    }

    /// `_capabilities/call`
    pub fn call(self: &Arc<Self>, id: Id, params: Option<&str>) {
        let (call, capability, params, timeout, token) = match read_call(params) {
            Ok((
                FromAgent::Call {
                    call,
                    capability,
                    timeout,
                    token,
                    ..
                },
                params,
            )) => (call, capability, params, timeout, token),
            Ok(_) => return,
            Err(error) => return self.fail(&id, &error),
        };
        let max = self.hub.limits.in_flight;
        if self.in_flight.len() >= max {
            let message = format!("{max} requests are in flight, and no more are accepted");
            let details = json!({ "limit": "inFlight", "max": max });
            let error = Error::new(Code::RATE_LIMITED, message).with_details(details);
            return self.fail(&id, &error);
        }
        let called = self.session().call(NewCall {
            capability: capability.clone(),
            params: Some(params),
            // One too long to count is none.
            timeout: timeout.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()),
            dialect_id: Some(id.plain()),
            call_id: call,
            progress: token.is_some(),
            ..NewCall::default()
        });
        let canceller = called.canceller();
        self.in_flight.begin(id.clone(), Some(canceller));
        let calling = Calling {
            peer: self.clone(),
            id,
            capability,
            token,
        };
        tokio::spawn(calling.run(called));
    }
}

/// A call whose answer is awaited.
struct Calling {
    peer: Arc<Peer>,
    id: Id,
    capability: String,
    token: Option<Value>,
}

impl Calling {
    /// Tells the peer how far the call is, and how it ends. When the peer is gone the call is
    /// dropped, which cancels it.
    async fn run(self, mut call: Call) {
        let Calling {
            peer, id, token, ..
        } = &self;
        let outcome = loop {
            let step = tokio::select! {
                biased;
                () = peer.gone.cancelled() => return,
                step = call.next() => step,
            };
            match (step, token) {
                (Step::Progress(info), Some(token)) => {
                    peer.send(&message::progress(token, info));
                }
                (Step::Progress(_), None) => {}
                (Step::Ended(outcome), _) => break outcome,
            }
        };
        let abandoned = matches!(
            outcome,
            Outcome::Cancelled {
                stop: Stop::Abandoned,
                ..
            }
        );
        let answer = self.answer(outcome);
        peer.in_flight.end(id, || peer.send_text(answer));
        if !abandoned {
            return;
        }
        let call_id = call.call_id().to_string();
        let late = tokio::select! {
            () = peer.gone.cancelled() => None,
            late = call.late_end() => late,
        };
        if let Some(end) = late {
            peer.send(&message::ended(id.value(), &call_id, end));
        }
    }

    fn answer(&self, outcome: Outcome) -> String {
        #[derive(Serialize)]
        struct Done {
            data: Option<Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            metadata: Option<Value>,
        }
        let id = self.id.value();
        match outcome {
            Outcome::Done { data, metadata } => message::success(id, &Done { data, metadata }),
            Outcome::Failed(error) => failed(&self.id, &error).to_string(),
            Outcome::Cancelled { stop, by, .. } => {
                message::cancelled(&self.id, &self.capability, stop, by).to_string()
            }
        }
    }
}

/// The `Capability` an agent of ABP would get.
fn document(info: &CapabilityInfo) -> Value {
    let schema = |raw: &Option<Box<serde_json::value::RawValue>>| {
        let parsed = raw.as_ref().map(|raw| serde_json::from_str(raw.get()));
        parsed.and_then(Result::ok).unwrap_or_else(|| json!({}))
    };
    json!({
        "name": info.name,
        "description": info.description.as_deref().unwrap_or_default(),
        "inputSchema": schema(&info.input_schema),
        "outputSchema": schema(&info.output_schema),
        "available": true,
        "requirements": [],
        "features": {},
    })
}

/// The parameters of a call that are looked at. Those of the capability are passed on as they are.
const IN_CALL: &[&str] = &[
    "capability",
    "params",
    "callId",
    "options.timeout",
    "options.progressToken",
    "options.callId",
];

/// Reads the parameters of a call, `{ capability, params?, options?: { timeout?, progressToken?,
/// callId? } }`, which are the payload of ABP's `capabilities/call`: always [`FromAgent::Call`], with the
/// capability's own parameters beside it.
fn read_call(params: Option<&str>) -> Result<(FromAgent, Json), Error<Value>> {
    let Some(text) = params.filter(|params| params.starts_with('{')) else {
        return Err(Error::invalid_params(
            "The parameters are an object {capability, params?, options?}",
        ));
    };
    let read = abp::read_call(&outline(text.as_bytes(), IN_CALL))?;
    let mut own: &[u8] = b"{}";
    members(text.as_bytes(), |key, value| {
        if key == "params" {
            own = value;
        }
    });
    Ok((read, Json::from(String::from_utf8_lossy(own).into_owned())))
}

/// The answer to a request that failed as `error` says.
fn failed(id: &Id, error: &AbpError) -> Value {
    let code = message::rpc_code(&error.code);
    RpcError::of_abp(code, &error.body).answer(id.value())
}

/// Tells the peer, as `notifications/cancelled`, of every cancel the cancellation API is asked for,
/// from now on and until it is gone; except of runs it may not see.
async fn tell_of_cancels(peer: Arc<Peer>, mut notices: Receiver<CancelNotice>) {
    loop {
        let notice = tokio::select! {
            () = peer.gone.cancelled() => return,
            notice = notices.recv() => notice,
        };
        match notice {
            Ok(notice) => {
                if notice.concerns(&peer.owner) {
                    let (id, reason) = (&notice.request_id, notice.reason.as_deref());
                    peer.send(&message::cancel_notice(id, reason));
                }
            }
            Err(RecvError::Lagged(missed)) => {
                static SAID: Seldom = Seldom::new();
                if SAID.is_due() {
                    tracing::warn!(missed, "cancel notices came too fast for a peer");
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}
