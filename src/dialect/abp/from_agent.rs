//! The host's half: what an agent sends.

use alloc::rc::Rc;
use alloc::string::String;

use super::{VERSION, kind};
use crate::call::{CallId, Code, Error, Millis};
use crate::dialect::Value;
use crate::session::{Agent, Features, Initialize};
use crate::text::clipped;

/// A message understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Received<V> {
    /// What the reply must carry.
    pub id: Option<V>,
    /// The message.
    pub message: FromAgent<V>,
}

/// What an agent can say.
#[derive(Clone, Debug, PartialEq)]
pub enum FromAgent<V> {
    /// Open the session.
    Initialize(Initialize),
    /// Call a capability.
    Call {
        /// The agent's callId, if it chose one.
        call: Option<CallId>,
        /// What is called.
        capability: String,
        /// What the handler gets; an empty object if the message had none.
        params: V,
        /// Milliseconds.
        timeout: Option<Millis>,
        /// Comes back in progress.
        token: Option<V>,
    },
    /// Cancel a call.
    Cancel {
        /// The callId as it was written.
        given: V,
        /// Its text.
        call: String,
        /// For logs and the handler.
        reason: Option<Rc<str>>,
    },
    /// End the session.
    Shutdown {
        /// For logs.
        reason: Option<Rc<str>>,
    },
    /// Answer a question: the whole `ABPResponse`.
    Elicited(V),
}

/// A message that could not be understood, and what is needed to say so in its own words.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed<V> {
    /// The type of the message, as far as it is known.
    pub kind: Option<String>,
    /// The id it came with.
    pub id: Option<V>,
    /// The callId of a cancel, as it was written.
    pub given: Option<V>,
    /// What is wrong.
    pub error: Error<V>,
}

/// Reads one envelope.
pub fn read<V: Value>(envelope: &V) -> Result<Received<V>, Malformed<V>> {
    let mut known = Malformed {
        kind: None,
        id: None,
        given: None,
        error: Error::invalid_params("A message is an object {type, id, timestamp, payload}"),
    };
    if !envelope.is_object() {
        return Err(known);
    }
    known.id = envelope.get("id");
    let Some(kind) = envelope.text_of("type") else {
        known.error = bad("type", "a message has a type, which is a string");
        return Err(known);
    };
    known.kind = Some(kind.clone());
    if known
        .id
        .as_ref()
        .is_some_and(|id| id.as_text().is_none() && id.as_number().is_none())
    {
        known.error = bad("id", "an id is a string or a number");
        return Err(known);
    }
    let payload = envelope.get("payload");
    if kind == kind::CANCEL {
        known.given = payload.as_ref().and_then(|payload| payload.get("callId"));
    }
    match message(&kind, payload) {
        Ok(message) => Ok(Received {
            id: known.id,
            message,
        }),
        Err(error) => {
            known.error = error;
            Err(known)
        }
    }
}

fn message<V: Value>(kind: &str, payload: Option<V>) -> Result<FromAgent<V>, Error<V>> {
    match kind {
        kind::INITIALIZE => initialize(&required(payload)?).map(FromAgent::Initialize),
        kind::CALL => call(&required(payload)?),
        kind::CANCEL => cancel(&required(payload)?),
        kind::SHUTDOWN => Ok(FromAgent::Shutdown {
            reason: payload.and_then(|payload| reason(payload.get("reason"))),
        }),
        kind::ELICITATION_RESPONSE => Ok(FromAgent::Elicited(required(payload)?)),
        _ => {
            let message = ["There is no message type \"", clipped(kind, 64), "\""];
            Err(Error::new(Code::NOT_IMPLEMENTED, message.concat()))
        }
    }
}

fn required<V: Value>(payload: Option<V>) -> Result<V, Error<V>> {
    payload
        .filter(V::is_object)
        .ok_or_else(|| bad("payload", "the payload is an object"))
}

/// Reads the parameters of `initialize`. Features that are not mentioned are taken as wished for,
/// except questions: an agent must say that it answers those.
fn initialize<V: Value>(params: &V) -> Result<Initialize, Error<V>> {
    let agent = params.get("agent").filter(V::is_object);
    let agent = agent.ok_or_else(|| bad("agent", "the agent is {name, version}"))?;
    let name = agent
        .text_of("name")
        .ok_or_else(|| bad("agent.name", "it is a string"))?;
    let version = agent
        .text_of("version")
        .ok_or_else(|| bad("agent.version", "it is a string"))?;
    let protocol = params
        .text_of("protocolVersion")
        .ok_or_else(|| bad("protocolVersion", "it is a string"))?;
    if protocol != VERSION {
        let message = [
            "Protocol version \"",
            clipped(&protocol, 64),
            "\" is not supported; this host speaks \"",
            VERSION,
            "\"",
        ];
        return Err(Error::new(Code::NOT_SUPPORTED, message.concat()));
    }
    let features = params.get("features");
    if features.as_ref().is_some_and(|it| !it.is_object()) {
        return Err(bad("features", "it is an object of booleans"));
    }
    let feature = |name: &str| -> Result<Option<bool>, Error<V>> {
        match features.as_ref().and_then(|features| features.get(name)) {
            None => Ok(None),
            Some(value) => match value.as_boolean() {
                Some(wanted) => Ok(Some(wanted)),
                None => Err(bad("features", "it is an object of booleans")),
            },
        }
    };
    if params
        .get("requestedCapabilities")
        .is_some_and(|it| !it.is_array())
    {
        return Err(bad("requestedCapabilities", "it is an array of names"));
    }
    Ok(Initialize {
        features: Features {
            notifications: feature("notifications")?.unwrap_or(true),
            progress: feature("progress")?.unwrap_or(true),
            elicitation: feature("elicitation")?.unwrap_or(false),
        },
        agent: Agent { name, version },
    })
}

fn call<V: Value>(payload: &V) -> Result<FromAgent<V>, Error<V>> {
    let capability = payload.text_of("capability");
    let capability = capability.ok_or_else(|| bad("capability", "it is the name of one"))?;
    let options = payload.get("options");
    if options.as_ref().is_some_and(|options| !options.is_object()) {
        return Err(bad("options", "it is an object"));
    }
    let option = |key: &str| options.as_ref().and_then(|options| options.get(key));
    let call = match option("callId").or_else(|| payload.get("callId")) {
        None => None,
        Some(given) => Some(call_id(&given)?),
    };
    let timeout = match option("timeout") {
        None => None,
        Some(given) => Some(timeout(&given)?),
    };
    let token = option("progressToken");
    if token
        .as_ref()
        .is_some_and(|it| it.as_text().is_none() && it.as_number().is_none())
    {
        return Err(bad("options.progressToken", "it is a string"));
    }
    let params = match payload.get("params") {
        None => V::object(),
        Some(params) if params.is_object() => params,
        Some(_) => return Err(bad("params", "parameters are an object")),
    };
    Ok(FromAgent::Call {
        call,
        capability,
        params,
        // An infinite timeout is none.
        timeout: timeout.filter(|timeout| timeout.is_finite()),
        token,
    })
}

fn cancel<V: Value>(payload: &V) -> Result<FromAgent<V>, Error<V>> {
    let given = payload.get("callId").unwrap_or_else(V::null);
    let call = call_id(&given)?.as_str().into();
    let reason = reason(payload.get("reason"));
    Ok(FromAgent::Cancel {
        given,
        call,
        reason,
    })
}

fn call_id<V: Value>(given: &V) -> Result<CallId, Error<V>> {
    let text = given.as_text();
    let id = text.and_then(|text| CallId::parse(&text).ok());
    id.ok_or_else(|| bad("callId", "it is a string of 1 to 128 printable characters"))
}

fn timeout<V: Value>(given: &V) -> Result<Millis, Error<V>> {
    let number = given.as_number().filter(|number| *number >= 0.0);
    number.ok_or_else(|| {
        bad(
            "options.timeout",
            "it is a number of milliseconds, not negative",
        )
    })
}

/// A reason counts only if it is a string; it is kept to a length fit for a log line.
fn reason<V: Value>(given: Option<V>) -> Option<Rc<str>> {
    let text = given?.as_text()?;
    Some(clipped(&text, 1_024).into())
}

fn bad<V: Value>(path: &str, rule: &str) -> Error<V> {
    let mut details = V::object();
    details.put_text("path", path);
    Error::invalid_params(["Bad ", path, ": ", rule].concat()).with_details(details)
}
