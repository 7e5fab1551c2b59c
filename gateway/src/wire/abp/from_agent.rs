//! What an agent asks of an app: the payloads of `initialize` and `capabilities/call`.

use serde_json::{Value, json};

use super::VERSION;
use crate::wire::{Json, clipped, member, outline};
use caphost::call::{CallId, Code, Error, Millis};
use caphost::session::{Agent, Features, Initialize, Names, Scope};

/// A call of a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The agent's callId, if it chose one.
    pub call: Option<CallId>,
    /// What is called.
    pub capability: String,
    /// Milliseconds after which the call is to be cancelled.
    pub timeout: Option<Millis>,
    /// The token that progress carries.
    pub token: Option<Value>,
}

/// A rule for a property: where it stands, whether it may be missing, its type, and the error that a peer
/// gets.
pub(super) struct Rule {
    path: &'static str,
    optional: bool,
    is: fn(&Value) -> bool,
    rule: &'static str,
}

pub(super) const fn must(path: &'static str, is: fn(&Value) -> bool, rule: &'static str) -> Rule {
    Rule {
        path,
        optional: false,
        is,
        rule,
    }
}

pub(super) const fn may(path: &'static str, is: fn(&Value) -> bool, rule: &'static str) -> Rule {
    Rule {
        path,
        optional: true,
        is,
        rule,
    }
}

pub(super) fn is_text_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

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

/// Reads the parameters of `initialize`. A feature that is not mentioned counts as wanted. Only questions do
/// not: an agent must say that it answers them.
pub fn read_initialize(params: &Value) -> Result<Initialize, Error<Value>> {
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
    Ok(Initialize {
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
    })
}

fn names(list: &Value) -> Option<Names> {
    let names = list.as_array()?.iter().map(text);
    Some(Names(names.map(String::from).collect()))
}

/// The members of a call that are read. The capability's own parameters are passed on as they came.
const OF_CALL: &[&str] = &[
    "capability",
    "params",
    "callId",
    "options.timeout",
    "options.progressToken",
    "options.callId",
];

/// Reads the payload of a call: `{ capability, params?, options?: { timeout?, progressToken?, callId? } }`.
/// Returns the capability's own parameters separately, as they came.
pub fn read_call(payload: &Json) -> Result<(Called, Json), Error<Value>> {
    let text = payload.as_str();
    if !text.starts_with('{') {
        let message = "The parameters are an object {capability, params?, options?}";
        return Err(Error::invalid_params(message));
    }
    let read = called(&outline(text.as_bytes(), OF_CALL))?;
    let params = member(text.as_bytes(), "params").and_then(|it| str::from_utf8(it).ok());
    Ok((read, payload.part(params.unwrap_or("{}"))))
}

/// Reads the payload of a call, except for the capability's own parameters.
pub(super) fn called(payload: &Value) -> Result<Called, Error<Value>> {
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
        // An infinite timeout is no timeout.
        timeout: timeout.filter(|timeout| timeout.is_finite()),
        token: options.get("progressToken").cloned(),
    })
}

pub(super) fn call_id(given: &Value) -> Result<CallId, Error<Value>> {
    let id = given.as_str().and_then(|text| CallId::parse(text).ok());
    id.ok_or_else(|| bad("callId", "it is a string of 1 to 128 printable characters"))
}

/// The text of a value that was found to be a string.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn expect(object: &Value, rules: &[Rule]) -> Result<(), Error<Value>> {
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
