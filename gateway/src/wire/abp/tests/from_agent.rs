//! The host's half: messages from an agent, in their envelopes.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::wire::abp::from_agent::{
    Called, Rule, call_id, called, expect, is_text_or_number, may, must, read_initialize, text,
};
use crate::wire::abp::{self, kind};
use crate::wire::clipped;
use crate::wire::reply::refusal as typed;
use caphost::call::{Code, Error, Millis};
use caphost::session::Initialize;

/// A message that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The id that the reply must carry.
    pub id: Option<Value>,
    /// The message.
    pub message: FromAgent,
}

/// The messages of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum FromAgent {
    /// Open the session.
    Initialize(Initialize),
    /// Call a capability.
    Call(Called, Value),
    /// Cancel a call.
    Cancel {
        /// The callId as it was written.
        given: Value,
        /// Its text.
        call: String,
        /// For logs and the handler.
        reason: Option<Rc<str>>,
    },
    /// List the capabilities, with descriptions and schemas.
    List,
    /// End the session.
    Shutdown {
        /// For logs.
        reason: Option<Rc<str>>,
    },
    /// Answer a question: the whole `ABPResponse`.
    Elicited(Value),
}

const ENVELOPE: &[Rule] = &[
    must(
        "type",
        Value::is_string,
        "a message has a type, which is a string",
    ),
    may("id", is_text_or_number, "an id is a string or a number"),
];

const PAYLOAD: &[Rule] = &[must(
    "payload",
    Value::is_object,
    "the payload is an object",
)];

/// Reads one envelope.
pub fn read(envelope: &Value) -> Result<Received, Error<Value>> {
    if !envelope.is_object() {
        let message = "A message is an object {type, id, timestamp, payload}";
        return Err(Error::invalid_params(message));
    }
    expect(envelope, ENVELOPE)?;
    let payload = &envelope["payload"];
    let message = match text(&envelope["type"]) {
        kind::SHUTDOWN => FromAgent::Shutdown {
            reason: reason(payload),
        },
        kind::LIST => FromAgent::List,
        kind @ (kind::INITIALIZE | kind::CALL | kind::CANCEL | kind::ELICITATION_RESPONSE) => {
            expect(envelope, PAYLOAD)?;
            match kind {
                kind::INITIALIZE => FromAgent::Initialize(read_initialize(payload)?),
                kind::CALL => FromAgent::Call(called(payload)?, params(payload)),
                kind::CANCEL => cancel(payload)?,
                _ => FromAgent::Elicited(payload.clone()),
            }
        }
        kind => {
            let message = format!("There is no message type \"{}\"", clipped(kind, 64));
            return Err(Error::new(Code::NOT_IMPLEMENTED, message));
        }
    };
    Ok(Received {
        id: envelope.get("id").cloned(),
        message,
    })
}

fn cancel(payload: &Value) -> Result<FromAgent, Error<Value>> {
    let given = &payload["callId"];
    Ok(FromAgent::Cancel {
        call: call_id(given)?.as_str().into(),
        given: given.clone(),
        reason: reason(payload),
    })
}

/// A reason counts only if it is a string. It is cut to a length that fits a log line.
fn reason(payload: &Value) -> Option<Rc<str>> {
    Some(clipped(payload["reason"].as_str()?, 1_024).into())
}

/// The handler's parameters. An empty object if the message had none.
fn params(payload: &Value) -> Value {
    payload.get("params").cloned().unwrap_or_else(|| json!({}))
}

/// The answer to an envelope that was not understood: the typed reply if its type is known.
pub fn refusal(envelope: &Value, failure: &Error<Value>, timestamp: Millis) -> Value {
    let call_id = &envelope["payload"]["callId"];
    let (kind, mut payload) = typed(envelope["type"].as_str(), call_id, failure);
    if kind == kind::CANCEL_RESULT {
        payload["reason"] = failure.message.as_ref().into();
    }
    abp::envelope(kind, Some(&envelope["id"]), timestamp, payload)
}
