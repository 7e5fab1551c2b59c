//! A request of MCP: its parameters, its version, and what its HTTP head must say of it.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, HeaderMap};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::header::{METHOD, NAME, SESSION, VERSION, decoded};
use crate::fronts::media_type::{content_type, essence};
use crate::fronts::refusal::Refusal;
use crate::wire::json_rpc::{Id, code};
use crate::wire::{Failure, clipped, text_of};

/// The version spoken in sessions, whichever the client asks for.
pub const WITH_SESSIONS: &str = "2025-11-25";
/// The first version without sessions, and the only one that is spoken.
pub const STATELESS: &str = "2026-07-28";
/// Those spoken.
pub const VERSIONS: [&str; 2] = [WITH_SESSIONS, STATELESS];
/// Earlier ones, which clients may name in a session.
const EARLIER: [&str; 3] = ["2024-11-05", "2025-03-26", "2025-06-18"];

/// A header says something else than the body.
const HEADER_MISMATCH: i32 = -32020;
/// A version that is not spoken.
const UNSUPPORTED_VERSION: i32 = -32022;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The head of an HTTP request, as far as MCP has a say in it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a>(pub &'a HeaderMap);

impl<'a> Head<'a> {
    /// The session it names.
    pub fn session(self) -> Option<&'a str> {
        self.text(SESSION)
    }

    /// Whether it names a version without sessions.
    pub fn is_stateless(self) -> bool {
        self.text(VERSION).is_some_and(|it| it >= STATELESS)
    }

    /// Checks the version named.
    pub fn check_version(self) -> Result<(), Refusal> {
        match self.text(VERSION) {
            Some(version) if !VERSIONS.contains(&version) && !EARLIER.contains(&version) => {
                let version = clipped(version, 64);
                let what = format!("Unsupported MCP-Protocol-Version: {version}");
                Err(Refusal::invalid(what))
            }
            _ => Ok(()),
        }
    }

    /// Checks the type of a body, and that its answer may be of both types there are.
    pub fn check_types(self) -> Result<(), Refusal> {
        if content_type(self.0) != JSON {
            let what = format!("Content-Type must be {JSON}");
            return Err(status(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        self.check_accept(&[JSON, EVENTS])
    }

    /// Checks that it may be answered with a stream of events.
    pub fn check_events(self) -> Result<(), Refusal> {
        self.check_accept(&[EVENTS])
    }

    fn check_accept(self, kinds: &[&str]) -> Result<(), Refusal> {
        match kinds.iter().all(|kind| self.accepts(kind)) {
            true => Ok(()),
            false => {
                let what = format!("Accept must have {}", kinds.join(" and "));
                Err(status(StatusCode::NOT_ACCEPTABLE, what))
            }
        }
    }

    fn accepts(self, kind: &str) -> bool {
        let accepted = self.0.get_all(ACCEPT).iter();
        let accepted = accepted.filter_map(|value| value.to_str().ok());
        accepted
            .flat_map(|value| value.split(','))
            .filter(|range| !is_ruled_out(range))
            .any(|range| {
                let range = essence(range);
                range == kind || range == "*/*"
            })
    }

    /// A header's value; the empty text, which is never right, if it is none.
    fn text(self, name: &str) -> Option<&'a str> {
        let value = self.0.get(name)?;
        Some(value.to_str().unwrap_or_default())
    }

    /// For a version that names the method and its subject in headers: checks that they match the body.
    fn check_names(self, request: &Request<'_>) -> Result<(), Refusal> {
        let method = self.text(METHOD).map(Cow::Borrowed);
        agree("Mcp-Method", method, &request.method)?;
        let subject = match &*request.method {
            "tools/call" | "prompts/get" => request.params.name,
            "resources/read" => request.params.uri,
            _ => None,
        };
        match text(subject) {
            Some(subject) => agree("Mcp-Name", self.text(NAME).and_then(decoded), &subject),
            None => Ok(()),
        }
    }
}

/// Whether a media range has the weight 0.
fn is_ruled_out(range: &str) -> bool {
    let mut parameters = range.split(';').skip(1).map(str::trim);
    parameters.any(|it| {
        let weight = it.strip_prefix("q=").or_else(|| it.strip_prefix("Q="));
        weight.is_some_and(|weight| weight.trim().parse() == Ok(0.0))
    })
}

fn agree(header: &str, said: Option<Cow<'_, str>>, body: &str) -> Result<(), Refusal> {
    match said {
        Some(said) if said == body => Ok(()),
        Some(_) => Err(mismatch(format!("{header} is not what the body says"))),
        None => Err(mismatch(format!("{header} is missing or malformed"))),
    }
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// Its id.
    pub id: Id,
    /// What is asked for.
    pub method: Cow<'a, str>,
    /// Its parameters, as JSON.
    text: &'a str,
    params: Params<'a>,
    meta: Meta<'a>,
}

/// Those parameters that are looked at. None of them may be there twice, for a router may look at the other.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    level: Option<&'a RawValue>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// What is looked at of `_meta`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// What a subscription wants to hear of.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wanted<'a> {
    #[serde(borrow, rename = "toolsListChanged")]
    tool_changes: Option<&'a RawValue>,
}

/// Reads the members that are looked at of an object, which there need not be.
fn object<'a, T: Default + Deserialize<'a>>(
    what: &str,
    text: Option<&'a str>,
) -> Result<T, Refusal> {
    match text {
        None => Ok(T::default()),
        Some(text) if text.starts_with('{') => {
            serde_json::from_str(text).map_err(|error| Refusal::invalid(format!("{what}: {error}")))
        }
        Some(_) => Err(Refusal::invalid(format!("{what}: it must be an object"))),
    }
}

/// What a client says of itself with `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introduction<'a> {
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    client_info: ClientInfo,
}

/// What a client is called.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl<'a> Request<'a> {
    /// Reads the parameters, which are an object.
    pub fn read(id: Id, method: Cow<'a, str>, text: Option<&'a str>) -> Result<Self, Refusal> {
        let params: Params<'a> = object("The parameters", text)?;
        let meta = object("The parameters: _meta", params.meta.map(RawValue::get))?;
        Ok(Request {
            id,
            method,
            text: text.unwrap_or("{}"),
            params,
            meta,
        })
    }

    /// What a client says of itself with `initialize`. The version it names has to be the header's.
    pub fn introduction(&self, head: Head<'_>) -> Result<ClientInfo, Refusal> {
        head.check_version()?;
        let malformed = |what: String| {
            let what = format!("The parameters of initialize: {what}");
            Refusal::invalid(what).with_rpc_code(code::INVALID_PARAMS)
        };
        let read = serde_json::from_str::<Introduction<'_>>(self.text);
        let introduction = read.map_err(|error| malformed(error.to_string()))?;
        if !introduction.capabilities.get().starts_with('{') {
            return Err(malformed("capabilities are an object".into()));
        }
        if head
            .text(VERSION)
            .is_some_and(|it| it != introduction.protocol_version)
        {
            let what = "MCP-Protocol-Version is not the version in the parameters";
            return Err(Refusal::invalid(what));
        }
        // The header need not be there yet, but a router that uses it must not be misled.
        let mut methods = head.0.get_all(METHOD).iter();
        if head.is_stateless() && methods.any(|method| method != "initialize") {
            return Err(mismatch("Mcp-Method is not what the body says"));
        }
        Ok(introduction.client_info)
    }

    /// Whether it is of a version without sessions, and as that has it.
    pub fn is_stateless(&self, head: Head<'_>) -> Result<bool, Refusal> {
        let capabilities = self.meta.capabilities.map(RawValue::get);
        let has_capabilities = capabilities.is_some_and(|it| it.starts_with('{'));
        let Some(named) = text(self.meta.version) else {
            head.check_version()?;
            return match head.is_stateless() || self.method == "server/discover" {
                true => Err(incomplete()),
                false => Ok(false),
            };
        };
        let named = &*named;
        let is_stateless = named >= STATELESS || has_capabilities;
        match head.text(VERSION) {
            Some(header) if header != named => {
                let what = "MCP-Protocol-Version is not the version in _meta";
                return Err(mismatch(what));
            }
            None if is_stateless => {
                let what = "A request that names its version in _meta has MCP-Protocol-Version";
                return Err(mismatch(what));
            }
            _ => {}
        }
        if !is_stateless {
            return Ok(false);
        }
        if named >= STATELESS {
            head.check_names(self)?;
        }
        if !VERSIONS.contains(&named) {
            let mut refusal = Refusal::invalid("Unsupported protocol version");
            let details = json!({ "supported": VERSIONS, "requested": named });
            refusal.error.details = Some(Box::new(details));
            return Err(refusal.with_rpc_code(UNSUPPORTED_VERSION));
        }
        match has_capabilities {
            true => Ok(true),
            false => Err(incomplete()),
        }
    }

    /// The name of what is called.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.params.name)
    }

    /// What it is called with, an object as JSON. The error: it is something else.
    pub fn arguments(&self) -> Result<&'a str, ()> {
        match self.params.arguments.map_or("{}", RawValue::get) {
            "null" => Ok("{}"),
            arguments if arguments.starts_with('{') => Ok(arguments),
            _ => Err(()),
        }
    }

    /// Where a list goes on.
    pub fn cursor(&self) -> Option<Cow<'a, str>> {
        text(self.params.cursor)
    }

    /// Which log messages the client wants to hear.
    pub fn level(&self) -> Option<Cow<'a, str>> {
        text(self.params.level)
    }

    /// Whether a subscription wants to hear that the list of tools has changed. Nothing, if it is
    /// malformed.
    pub fn wants_tool_changes(&self) -> Option<bool> {
        let wanted = self.params.notifications.map(RawValue::get);
        let wanted: Wanted<'_> = object("notifications", Some(wanted?)).ok()?;
        Some(wanted.tool_changes.is_some_and(|it| it.get() == "true"))
    }

    /// Under what the client wants to hear of progress.
    pub fn progress_token(&self) -> Option<Value> {
        let token = self.meta.progress_token?.get();
        let is_small = !token.starts_with(['{', '[']);
        let token: Value = is_small.then(|| serde_json::from_str(token).ok())??;
        (token.is_string() || token.is_i64()).then_some(token)
    }
}

fn text(field: Option<&RawValue>) -> Option<Cow<'_, str>> {
    text_of(field?.get().as_bytes())
}

fn incomplete() -> Refusal {
    let prefix = "io.modelcontextprotocol";
    let what = format!("_meta has {prefix}/protocolVersion and {prefix}/clientCapabilities");
    Refusal::invalid(what).with_rpc_code(code::INVALID_PARAMS)
}

fn mismatch(what: impl Into<String>) -> Refusal {
    Refusal::invalid(what).with_rpc_code(HEADER_MISMATCH)
}

fn status(status: StatusCode, what: impl Into<String>) -> Refusal {
    Refusal::new(status, Failure::invalid_params(what.into()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::{CONTENT_TYPE, HeaderName};

    use super::*;

    const BOTH: (HeaderName, &str) = (ACCEPT, "application/json, text/event-stream");

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn types_are_checked_as_the_protocol_has_them() {
        let json = (CONTENT_TYPE, "application/json; charset=utf-8");
        for good in [
            headers(&[json.clone(), BOTH]),
            headers(&[json.clone(), (ACCEPT, "*/*")]),
        ] {
            assert!(Head(&good).check_types().is_ok(), "{good:?}");
        }
        for bad in [
            headers(&[BOTH]),
            headers(&[(CONTENT_TYPE, "text/plain"), BOTH]),
            headers(std::slice::from_ref(&json)),
            headers(&[json.clone(), (ACCEPT, "application/json")]),
            headers(&[
                json.clone(),
                (ACCEPT, "application/json;q=0, text/event-stream"),
            ]),
            headers(&[json, (ACCEPT, "text/html")]),
        ] {
            assert!(Head(&bad).check_types().is_err(), "{bad:?}");
        }
    }

    fn request<'a>(method: &'a str, params: &'a str) -> Request<'a> {
        let id = Id::read(&json!(1)).unwrap();
        Request::read(id, method.into(), Some(params)).unwrap()
    }

    #[test]
    fn what_is_looked_at_is_not_there_twice() {
        let read = |params: &str| {
            let id = Id::read(&json!(1)).unwrap();
            Request::read(id, "tools/call".into(), Some(params)).is_ok()
        };
        for once in [
            r#"{"name":"a","arguments":{"a":1,"a":2},"other":1,"other":2}"#,
            r#"{"name":null,"_meta":{"progressToken":1,"other":1,"other":2}}"#,
        ] {
            assert!(read(once), "{once}");
        }
        for twice in [
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","n\u0061me":"a"}"#,
            r#"{"arguments":{},"arguments":{"a":1}}"#,
            r#"{"_meta":{},"_meta":{}}"#,
            r#"{"_meta":{"progressToken":1,"progressToken":1}}"#,
            r#"{"_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                "io.modelcontextprotocol/protocolVersion":"2025-11-25"
            }}"#,
        ] {
            assert!(!read(twice), "{twice}");
        }
        let notifications =
            r#"{"notifications":{"toolsListChanged":true,"toolsListChanged":false}}"#;
        let listen = request("subscriptions/listen", notifications);
        assert_eq!(listen.wants_tool_changes(), None);
    }

    #[test]
    fn a_version_without_sessions_is_told_from_the_others() {
        let meta = |version: &str| {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            json!({ "name": "é", "_meta": meta }).to_string()
        };
        let (new, old) = (meta(STATELESS), meta(WITH_SESSIONS));
        let version = (HeaderName::from_static(VERSION), STATELESS);
        let older = (HeaderName::from_static(VERSION), WITH_SESSIONS);
        let method = (HeaderName::from_static(METHOD), "tools/call");
        let name = (HeaderName::from_static(NAME), "=?base64?w6k=?=");
        let all = [version.clone(), method, name];
        for (params, head, expected) in [
            (&*new, &all[..], Ok(true)),
            (&old, std::slice::from_ref(&older), Ok(true)),
            ("{}", &[], Ok(false)),
            ("{}", std::slice::from_ref(&older), Ok(false)),
            ("{}", std::slice::from_ref(&version), Err(-32602)),
            (&new, &[], Err(HEADER_MISMATCH)),
            (&new, std::slice::from_ref(&older), Err(HEADER_MISMATCH)),
            (&new, &all[..2], Err(HEADER_MISMATCH)),
            (&new, &all[..1], Err(HEADER_MISMATCH)),
        ] {
            let headers = headers(head);
            let found = request("tools/call", params).is_stateless(Head(&headers));
            let found = found.map_err(|refusal| refusal.rpc_code);
            assert_eq!(found, expected, "{params} {headers:?}");
        }
    }

    #[test]
    fn what_a_client_says_of_itself_is_needed() {
        let none = HeaderMap::new();
        let refused = request("initialize", "{}").introduction(Head(&none));
        let refused = refused.unwrap_err();
        assert!(refused.error.message.contains("protocolVersion"));
        let params =
            r#"{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
        let known = request("initialize", params).introduction(Head(&none));
        assert_eq!(known.unwrap().name, "a");
        let other = headers(&[(HeaderName::from_static(VERSION), WITH_SESSIONS)]);
        assert!(
            request("initialize", params)
                .introduction(Head(&other))
                .is_err()
        );
    }
}
