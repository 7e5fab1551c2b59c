//! A request of MCP: its parameters and its version, with which the HTTP head must agree.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::head::Head;
use super::questions::takes_forms;
use super::tasks::terms::TASKS;
use crate::fronts::refusal::Refusal;
use crate::limits::MAX_DEPTH;
use crate::wire::json_rpc::{Id, RpcError, code};
use crate::wire::{check_readable, members, mended, outline, text_of};
use caphost::dialect::mcp::{STATELESS, Version};

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// Its id.
    pub id: Id,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters, as JSON.
    text: &'a str,
    params: Params<'a>,
    meta: Meta<'a>,
}

/// The parameters that are read. None may be repeated, because a router may read the other value.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestState")]
    state: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputResponses")]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    level: Option<&'a RawValue>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
    #[serde(borrow)]
    task: Option<&'a RawValue>,
    #[serde(borrow, rename = "taskId")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// The members of `_meta` that are read.
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

/// The changes that a subscription wants.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wanted<'a> {
    #[serde(borrow, rename = "toolsListChanged")]
    tool_changes: Option<&'a RawValue>,
    #[serde(borrow, rename = "taskIds")]
    task_ids: Option<&'a RawValue>,
}

/// Reads the known members of an object, which may be missing.
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

/// The parameters of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introduction<'a> {
    protocol_version: String,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    client_info: ClientInfo,
}

/// The client's name and version.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl<'a> Request<'a> {
    /// Reads the parameters, which must be an object.
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

    /// Whether the head or the body names a version without sessions.
    pub fn names_stateless(&self, head: Head<'_>) -> bool {
        let named = text(self.meta.version);
        head.is_stateless() || named.is_some_and(|it| *it >= *STATELESS.name)
    }

    /// The client's description of itself, the version for this client, and whether the client fills in forms.
    /// The version in the body must be that of the header.
    pub fn introduction(
        &self,
        head: Head<'_>,
    ) -> Result<(ClientInfo, &'static Version, bool), Refusal> {
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
        let named = head.version();
        if named.is_some_and(|it| it != introduction.protocol_version) {
            let what = "MCP-Protocol-Version is not the version in the parameters";
            return Err(Refusal::invalid(what));
        }
        let version = Version::for_session(&introduction.protocol_version);
        let takes_forms = takes_forms(introduction.capabilities.get(), version);
        Ok((introduction.client_info, version, takes_forms))
    }

    /// Whether the request has a version without sessions, and follows the rules of that version.
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
        let is_stateless = named >= STATELESS.name || has_capabilities;
        match head.version() {
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
        if named >= STATELESS.name {
            self.check_names(head)?;
        }
        if Version::named(named).is_none() {
            let mut refusal = Refusal::invalid("Unsupported protocol version");
            let supported: Vec<_> = Version::names().collect();
            let details = json!({ "supported": supported, "requested": named });
            refusal.error.details = Some(Box::new(details));
            return Err(refusal.with_rpc_code(code::UNSUPPORTED_VERSION));
        }
        match has_capabilities {
            true => Ok(true),
            false => Err(incomplete()),
        }
    }

    /// For a version that names the method and its subject in headers: checks that they match the body.
    fn check_names(&self, head: Head<'_>) -> Result<(), Refusal> {
        let method = head.method().map(Cow::Borrowed);
        agree("Mcp-Method", method, &self.method)?;
        let subject = match &*self.method {
            "tools/call" | "prompts/get" => self.params.name,
            "resources/read" => self.params.uri,
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.params.task_id,
            _ => None,
        };
        match text(subject) {
            Some(subject) => agree("Mcp-Name", head.name(), &subject),
            None => Ok(()),
        }
    }

    /// The name of the tool.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.params.name)
    }

    /// The resource.
    pub fn uri(&self) -> Option<Cow<'a, str>> {
        text(self.params.uri)
    }

    /// Whether the client of a request without a session fills in forms.
    pub fn takes_forms(&self) -> bool {
        let capabilities = self.meta.capabilities;
        capabilities.is_some_and(|it| takes_forms(it.get(), &STATELESS))
    }

    /// Whether the client of a request without a session takes a task in place of a result.
    pub fn takes_tasks(&self) -> bool {
        let capabilities = self.meta.capabilities.map_or("{}", RawValue::get);
        let mut takes_tasks = false;
        members(capabilities.as_bytes(), |key, value| {
            if key == "extensions" && value.starts_with(b"{") {
                members(value, |key, value| {
                    takes_tasks |= key == TASKS && value.starts_with(b"{");
                });
            }
        });
        takes_tasks
    }

    /// Whether a request in a session wants a task in place of the result, and the time to live that it wants
    /// for the task. `None` if it wants none.
    pub fn task(&self) -> Result<Option<Option<Duration>>, RpcError> {
        let Some(task) = self
            .params
            .task
            .map(RawValue::get)
            .filter(|it| *it != "null")
        else {
            return Ok(None);
        };
        let wanted = outline(task.as_bytes(), &["ttl"]);
        let ttl = &wanted["ttl"];
        let millis = ttl.as_f64().filter(|it| *it >= 0.0);
        if !wanted.is_object() || (millis.is_none() && !ttl.is_null()) {
            let what = "`task` is an object, and its `ttl` a number of milliseconds";
            return Err(RpcError::new(code::INVALID_PARAMS, what));
        }
        let longest = u64::from(u32::MAX) as f64;
        let ttl = millis.map(|it| Duration::from_millis(it.min(longest) as u64));
        Ok(Some(ttl))
    }

    /// The id of the task that the request is about.
    pub fn task_id(&self) -> Option<Cow<'a, str>> {
        text(self.params.task_id)
    }

    /// The state of the call that the request goes on with. A state that is no text is as good as an empty one.
    pub fn state(&self) -> Option<Cow<'a, str>> {
        self.params
            .state
            .map(|it| text(Some(it)).unwrap_or_default())
    }

    /// The answers to questions of the call, by the keys of the questions. An error if they are no object.
    pub fn answers(&self) -> Result<Map<String, Value>, RpcError> {
        let answers = self.params.answers.map_or("{}", RawValue::get);
        serde_json::from_str(answers).map_err(|_| {
            let what =
                "`inputResponses` is an object with an answer for each key of `inputRequests`";
            RpcError::new(code::INVALID_PARAMS, what)
        })
    }

    /// The arguments of the tool, an object as JSON. An error if they are something else. With `coerce` they
    /// may also be a text, which has the JSON.
    pub fn arguments(&self, coerce: bool) -> Result<Cow<'a, str>, ()> {
        match self.params.arguments.map_or("{}", RawValue::get) {
            "null" => Ok("{}".into()),
            arguments if arguments.starts_with('{') => Ok(arguments.into()),
            _ if coerce => {
                let said = text(self.params.arguments).ok_or(())?;
                let said = mended(said.trim()).into_owned();
                let is_object = said.starts_with('{') && check_readable(&said, MAX_DEPTH).is_ok();
                is_object.then_some(said.into()).ok_or(())
            }
            _ => Err(()),
        }
    }

    /// Whether the request asks for another page of a list than the first.
    pub fn has_cursor(&self) -> bool {
        self.params.cursor.is_some_and(|it| it.get() != "null")
    }

    /// The level of log messages that the client wants.
    pub fn level(&self) -> Option<Cow<'a, str>> {
        text(self.params.level)
    }

    /// Whether a subscription wants changes of the list of tools. `None` if the request is malformed.
    pub fn wants_tool_changes(&self) -> Option<bool> {
        let wanted = self.params.notifications.map(RawValue::get);
        let wanted: Wanted<'_> = object("notifications", Some(wanted?)).ok()?;
        Some(wanted.tool_changes.is_some_and(|it| it.get() == "true"))
    }

    /// The ids of the tasks whose changes a subscription wants. Empty if they are not a list of texts.
    pub fn wanted_tasks(&self) -> Vec<String> {
        let wanted = self.params.notifications.map(RawValue::get);
        let wanted = object::<Wanted<'_>>("notifications", wanted).unwrap_or_default();
        let ids = wanted.task_ids.map_or("[]", RawValue::get);
        serde_json::from_str(ids).unwrap_or_default()
    }

    /// The token of the progress that the client wants.
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

fn agree(header: &str, said: Option<Cow<'_, str>>, body: &str) -> Result<(), Refusal> {
    match said {
        Some(said) if said == body => Ok(()),
        Some(_) => Err(mismatch(format!("{header} is not what the body says"))),
        None => Err(mismatch(format!("{header} is missing or malformed"))),
    }
}

fn incomplete() -> Refusal {
    let prefix = "io.modelcontextprotocol";
    let what = format!("_meta has {prefix}/protocolVersion and {prefix}/clientCapabilities");
    Refusal::invalid(what).with_rpc_code(code::INVALID_PARAMS)
}

fn mismatch(what: impl Into<String>) -> Refusal {
    Refusal::invalid(what).with_rpc_code(code::HEADER_MISMATCH)
}
