//! The host's half: messages from an agent.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{VERSION, kind};
use crate::wire::clipped;
use caphost::call::{CallId, Code, Error, Millis};
use caphost::session::{Agent, Features, Initialize, Names, Scope};

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
    Call(Called),
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

/// A call of a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The agent's callId, if it chose one.
    pub call: Option<CallId>,
    /// What is called.
    pub capability: String,
    /// The handler's parameters. An empty object if the message had none.
    pub params: Value,
    /// Milliseconds after which the call is to be cancelled.
    pub timeout: Option<Millis>,
    /// The token that progress carries.
    pub token: Option<Value>,
}

/// A rule for a property: where it stands, whether it may be missing, its type, and the error that a peer
/// gets.
struct Rule {
    path: &'static str,
    optional: bool,
    is: fn(&Value) -> bool,
    rule: &'static str,
}

const fn must(path: &'static str, is: fn(&Value) -> bool, rule: &'static str) -> Rule {
    Rule {
        path,
        optional: false,
        is,
        rule,
    }
}

const fn may(path: &'static str, is: fn(&Value) -> bool, rule: &'static str) -> Rule {
    Rule {
        path,
        optional: true,
        is,
        rule,
    }
}

fn is_text_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
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

const IN_INITIALIZE: &[Rule] = &[
    must("agent", Value::is_object, "the agent is {name, version}"),
    must("agent.name", Value::is_string, "it is a string"),
    must("agent.version", Value::is_string, "it is a string"),
    must("protocolVersion", Value::is_string, "it is a string"),
    may("features", Value::is_object, "it is an object of booleans"),
    may(
        "features.notifications",
        Value::is_boolean,
        "it is a boolean",
    ),
    may("features.progress", Value::is_boolean, "it is a boolean"),
    may("features.elicitation", Value::is_boolean, "it is a boolean"),
    may("requestedCapabilities", are_names, NAMES),
    may(
        "agentCapabilities",
        Value::is_object,
        "it is {allowedRequests}",
    ),
    may("agentCapabilities.allowedRequests", are_names, NAMES),
];

/// More names than any agent needs. They are kept as long as its session.
const MAX_NAMES: usize = 4_096;
const NAMES: &str = "it is an array of names, 4096 at most";

fn are_names(value: &Value) -> bool {
    let list = value.as_array().filter(|list| list.len() <= MAX_NAMES);
    list.is_some_and(|list| list.iter().all(Value::is_string))
}

const IN_CALL: &[Rule] = &[
    must("capability", Value::is_string, "it is the name of one"),
    may("options", Value::is_object, "it is an object"),
    may("options.timeout", Value::is_number, TIMEOUT),
    may("options.progressToken", is_text_or_number, "it is a string"),
    may("params", Value::is_object, "parameters are an object"),
];

const TIMEOUT: &str = "it is a number of milliseconds, not negative";

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
                kind::INITIALIZE => initialize(payload)?,
                kind::CALL => FromAgent::Call(read_call(payload)?),
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

/// Reads the parameters of `initialize`. A feature that is not mentioned counts as wanted. Only questions do
/// not: an agent must say that it answers them.
fn initialize(params: &Value) -> Result<FromAgent, Error<Value>> {
    expect(params, IN_INITIALIZE)?;
    let protocol = text(&params["protocolVersion"]);
    if protocol != VERSION {
        let message = format!(
            "Protocol version \"{}\" is not supported; this host speaks \"{VERSION}\"",
            clipped(protocol, 64),
        );
        return Err(Error::new(Code::NOT_SUPPORTED, message));
    }
    let (agent, features) = (&params["agent"], &params["features"]);
    Ok(FromAgent::Initialize(Initialize {
        features: Features {
            notifications: features["notifications"].as_bool().unwrap_or(true),
            progress: features["progress"].as_bool().unwrap_or(true),
            elicitation: features["elicitation"].as_bool().unwrap_or(false),
        },
        agent: Agent {
            name: text(&agent["name"]).into(),
            version: text(&agent["version"]).into(),
        },
        scope: Scope {
            capabilities: names(&params["requestedCapabilities"]),
            requests: names(&params["agentCapabilities"]["allowedRequests"]),
        },
    }))
}

fn names(list: &Value) -> Option<Names> {
    let names = list.as_array()?.iter().map(text);
    Some(Names(names.map(String::from).collect()))
}

/// Reads the payload of a call.
pub fn read_call(payload: &Value) -> Result<Called, Error<Value>> {
    expect(payload, IN_CALL)?;
    let options = &payload["options"];
    let given = options.get("callId").or_else(|| payload.get("callId"));
    let timeout = options["timeout"].as_f64();
    let call = given.map(call_id).transpose()?;
    if timeout.is_some_and(|timeout| timeout.is_nan() || timeout < 0.0) {
        return Err(bad("options.timeout", TIMEOUT));
    }
    Ok(Called {
        call,
        capability: text(&payload["capability"]).into(),
        params: payload.get("params").cloned().unwrap_or_else(|| json!({})),
        // An infinite timeout is no timeout.
        timeout: timeout.filter(|timeout| timeout.is_finite()),
        token: options.get("progressToken").cloned(),
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

fn call_id(given: &Value) -> Result<CallId, Error<Value>> {
    let id = given.as_str().and_then(|text| CallId::parse(text).ok());
    id.ok_or_else(|| bad("callId", "it is a string of 1 to 128 printable characters"))
}

/// A reason counts only if it is a string. It is cut to a length that fits a log line.
fn reason(payload: &Value) -> Option<Rc<str>> {
    Some(clipped(payload["reason"].as_str()?, 1_024).into())
}

/// The text of a value that was found to be a string.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn expect(object: &Value, rules: &[Rule]) -> Result<(), Error<Value>> {
    for Rule {
        path,
        optional,
        is,
        rule,
    } in rules
    {
        let mut keys = path.split('.');
        let found = keys.try_fold(object, |value, key| value.get(key));
        if !found.map_or(*optional, is) {
            return Err(bad(path, rule));
        }
    }
    Ok(())
}

fn bad(path: &str, rule: &str) -> Error<Value> {
    Error::invalid_params(format!("Bad {path}: {rule}")).with_details(json!({ "path": path }))
}
