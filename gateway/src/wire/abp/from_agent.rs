//! The host's half: what an agent sends.

use std::rc::Rc;

use super::{VERSION, kind};
use crate::wire::AnyValue as Value;
use crate::wire::clipped;
use crate::wire::shape::{ARRAY, BOOLEAN, MISSING, NUMBER, OBJECT, TEXT};
use caphost::call::{CallId, Code, Error, Millis};
use caphost::session::{Agent, Features, Initialize};

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

/// What a property must be, and how that is said to whoever got it wrong.
type Rule = (&'static str, u32, &'static str);

const ENVELOPE: &[Rule] = &[
    ("type", TEXT, "a message has a type, which is a string"),
    (
        "id",
        MISSING | TEXT | NUMBER,
        "an id is a string or a number",
    ),
];

const PAYLOAD: &[Rule] = &[("payload", OBJECT, "the payload is an object")];

const IN_INITIALIZE: &[Rule] = &[
    ("agent", OBJECT, "the agent is {name, version}"),
    ("agent.name", TEXT, "it is a string"),
    ("agent.version", TEXT, "it is a string"),
    ("protocolVersion", TEXT, "it is a string"),
    ("features", MISSING | OBJECT, "it is an object of booleans"),
    (
        "features.notifications",
        MISSING | BOOLEAN,
        "it is a boolean",
    ),
    ("features.progress", MISSING | BOOLEAN, "it is a boolean"),
    ("features.elicitation", MISSING | BOOLEAN, "it is a boolean"),
    (
        "requestedCapabilities",
        MISSING | ARRAY,
        "it is an array of names",
    ),
];

const IN_CALL: &[Rule] = &[
    ("capability", TEXT, "it is the name of one"),
    ("options", MISSING | OBJECT, "it is an object"),
    ("options.timeout", MISSING | NUMBER, TIMEOUT),
    (
        "options.progressToken",
        MISSING | TEXT | NUMBER,
        "it is a string",
    ),
    ("params", MISSING | OBJECT, "parameters are an object"),
];

const TIMEOUT: &str = "it is a number of milliseconds, not negative";

/// Reads one envelope.
pub fn read<V: Value>(envelope: &V) -> Result<Received<V>, Error<V>> {
    if !envelope.is_object() {
        let message = "A message is an object {type, id, timestamp, payload}";
        return Err(Error::invalid_params(message));
    }
    expect(envelope, ENVELOPE)?;
    let kind = envelope.text_of("type").unwrap_or_default();
    let payload = envelope.get("payload").unwrap_or_else(V::null);
    let message = match &*kind {
        kind::SHUTDOWN => FromAgent::Shutdown {
            reason: reason(&payload),
        },
        kind::INITIALIZE | kind::CALL | kind::CANCEL | kind::ELICITATION_RESPONSE => {
            expect(envelope, PAYLOAD)?;
            match &*kind {
                kind::INITIALIZE => initialize(&payload)?,
                kind::CALL => read_call(&payload)?,
                kind::CANCEL => cancel(&payload)?,
                _ => FromAgent::Elicited(payload),
            }
        }
        _ => {
            let message = format!("There is no message type \"{}\"", clipped(&kind, 64));
            return Err(Error::new(Code::NOT_IMPLEMENTED, message));
        }
    };
    Ok(Received {
        id: envelope.get("id"),
        message,
    })
}

/// Reads the parameters of `initialize`. Features that are not mentioned are taken as wished for,
/// except questions: an agent must say that it answers those.
fn initialize<V: Value>(params: &V) -> Result<FromAgent<V>, Error<V>> {
    expect(params, IN_INITIALIZE)?;
    let text = |path: &str| params.text_of(path).unwrap_or_default();
    let protocol = text("protocolVersion");
    if protocol != VERSION {
        let message = format!(
            "Protocol version \"{}\" is not supported; this host speaks \"{VERSION}\"",
            clipped(&protocol, 64),
        );
        return Err(Error::new(Code::NOT_SUPPORTED, message));
    }
    let feature = |path: &str, default: bool| params.boolean_of(path).unwrap_or(default);
    Ok(FromAgent::Initialize(Initialize {
        features: Features {
            notifications: feature("features.notifications", true),
            progress: feature("features.progress", true),
            elicitation: feature("features.elicitation", false),
        },
        agent: Agent {
            name: text("agent.name"),
            version: text("agent.version"),
        },
    }))
}

/// Reads the payload of a call: always [`FromAgent::Call`].
pub fn read_call<V: Value>(payload: &V) -> Result<FromAgent<V>, Error<V>> {
    expect(payload, IN_CALL)?;
    let given = ["options.callId", "callId"]
        .into_iter()
        .find(|path| payload.shape(path) != MISSING);
    let call = match given {
        None => None,
        Some(path) => Some(call_id(payload, path)?),
    };
    let timeout = payload.number_of("options.timeout");
    if timeout.is_some_and(|timeout| timeout.is_nan() || timeout < 0.0) {
        return Err(bad("options.timeout", TIMEOUT));
    }
    Ok(FromAgent::Call {
        call,
        capability: payload.text_of("capability").unwrap_or_default(),
        params: payload.get("params").unwrap_or_else(V::object),
        // An infinite timeout is none.
        timeout: timeout.filter(|timeout| timeout.is_finite()),
        token: payload.get("options.progressToken"),
    })
}

fn cancel<V: Value>(payload: &V) -> Result<FromAgent<V>, Error<V>> {
    Ok(FromAgent::Cancel {
        call: call_id(payload, "callId")?.as_str().into(),
        given: payload.get("callId").unwrap_or_else(V::null),
        reason: reason(payload),
    })
}

fn call_id<V: Value>(payload: &V, path: &str) -> Result<CallId, Error<V>> {
    let text = payload.text_of(path);
    let id = text.and_then(|text| CallId::parse(&text).ok());
    id.ok_or_else(|| bad("callId", "it is a string of 1 to 128 printable characters"))
}

/// A reason counts only if it is a string; it is kept to a length fit for a log line.
fn reason<V: Value>(payload: &V) -> Option<Rc<str>> {
    Some(clipped(&payload.text_of("reason")?, 1_024).into())
}

fn expect<V: Value>(object: &V, rules: &[Rule]) -> Result<(), Error<V>> {
    for (path, shapes, rule) in rules {
        if object.shape(path) & shapes == 0 {
            return Err(bad(path, rule));
        }
    }
    Ok(())
}

fn bad<V: Value>(path: &str, rule: &str) -> Error<V> {
    let mut details = V::object();
    details.put_text("path", path);
    Error::invalid_params(format!("Bad {path}: {rule}")).with_details(details)
}
