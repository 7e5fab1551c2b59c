//! The end of a call, in MCP's form.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::content::extract;
use super::tasks::terms::{RELATED_TASK, related};
use crate::broker::calls::RunId;
use crate::gateway::AbpError;
use crate::wire::binary::opened;
use crate::wire::json_rpc::{Id, RpcError, code, success};
use crate::wire::{Json, stopped_by};
use caphost::call::{Code, Stop, StoppedBy};
use caphost::dialect::mcp::Version;

/// The end of a call.
pub type Ended = Result<ToolResult, RpcError>;

/// The result of a call.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Json>,
    is_error: bool,
    #[serde(rename = "_meta")]
    meta: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
}

/// A block of content. The app's data is written as it came, or as the text of it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Block {
    String {
        r#type: &'static str,
        text: Json,
    },
    Json {
        r#type: &'static str,
        #[serde(serialize_with = "as_text")]
        text: Json,
    },
    Ours(Value),
}

fn as_text<S: Serializer>(json: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(json.as_str())
}

impl Block {
    /// A string as itself, other data as JSON.
    fn of(data: Json) -> Self {
        let (r#type, text) = ("text", data);
        match text.as_str().starts_with('"') {
            true => Block::String { r#type, text },
            false => Block::Json { r#type, text },
        }
    }
}

impl ToolResult {
    /// The result with these blocks of content too.
    pub fn with(mut self, blocks: Vec<Value>) -> Self {
        self.content.extend(blocks.into_iter().map(Block::Ours));
        self
    }

    /// The result of the task of that run, in a session.
    pub fn of_task(mut self, run: RunId) -> Self {
        self.meta[RELATED_TASK] = related(run);
        self
    }

    /// Whether the call has failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// The `ABPError` of a call that has failed.
    pub fn error(&self) -> &Value {
        &self.meta[ERROR]
    }

    /// The result in the form of versions without sessions.
    pub fn complete(self) -> Self {
        ToolResult {
            result_type: Some(COMPLETE),
            ..self
        }
    }
}

/// Keys of `_meta`.
const RUN: &str = "caphost/run";
const METADATA: &str = "caphost/metadata";
const ERROR: &str = "caphost/error";
const STOP: &str = "caphost/stop";
/// The `resultType` of a complete result.
const COMPLETE: &str = "complete";
/// The prefix of caphost's own names.
const OURS: &str = "caphost/";

/// A result in the form of versions without sessions.
pub fn complete(mut result: Value) -> Value {
    result["resultType"] = COMPLETE.into();
    result
}

/// The answer to a request, as text.
pub fn answer<R: Serialize>(id: &Id, ended: Result<R, RpcError>) -> String {
    match ended {
        Ok(result) => success(id.value(), &result),
        Err(error) => error.answer(id.value()).to_string(),
    }
}

/// The result of a call that succeeded. If the tool has `promised` an output schema, clients insist on
/// structured content. Otherwise there is none beside files, because some clients then show the model nothing
/// else.
pub fn done(
    data: Option<Json>,
    metadata: Option<Value>,
    promised: impl FnOnce() -> bool,
    version: &Version,
    run: RunId,
) -> ToolResult {
    let is_object = data.as_ref().is_some_and(|it| it.as_str().starts_with('{'));
    let promised = promised();
    let is_broken = promised && !is_object;
    // The error comes first.
    let first = if is_broken { 2 } else { 1 };
    let (data, files) = data
        .map(|data| without_files(data, first, version, run))
        .unzip();
    let files = files.unwrap_or_default();
    let is_structured = version.structure && is_object && (promised || files.is_empty());
    let structured_content = data.clone().filter(|_| is_structured);
    // An interface to a model refuses an empty block of text.
    let said = data.filter(|it| !is_blank_text(it)).map(Block::of);
    let content = said.into_iter().chain(files.into_iter().map(Block::Ours));
    if is_broken {
        let error = AbpError::new(
            Code::INTERNAL_ERROR,
            "The app's answer is not the object its outputSchema promises",
        );
        let mut result = failed(&error, Some(run));
        result.content.extend(content);
        return result;
    }
    ToolResult {
        content: content.collect(),
        structured_content,
        meta: meta(Some(run), metadata.map(|it| (METADATA, it))),
        ..ToolResult::default()
    }
}

/// Whether the text has white space only. A byte order mark counts as white space, as in JavaScript.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

fn is_space(it: char) -> bool {
    it.is_whitespace() || it == '\u{feff}'
}

/// Whether the data is a blank text.
fn is_blank_text(data: &Json) -> bool {
    let text = data.as_str();
    // The first character of most texts shows that they are not blank.
    let begins = text.strip_prefix('"').and_then(|text| text.chars().next());
    begins.is_some_and(|it| is_space(it) || it == '"' || it == '\\')
        && serde_json::from_str::<String>(text).is_ok_and(|it| is_blank(&it))
}

/// The data without the bytes of its files, and the blocks of the files. Only data that may have files is
/// parsed.
fn without_files(data: Json, first: usize, version: &Version, run: RunId) -> (Json, Vec<Value>) {
    let Some(mut value) = opened(&data) else {
        return (data, Vec::new());
    };
    let files = extract(&mut value, first, version, run);
    // Data without files is written anew too: a model reads characters, not their escapes.
    (Json::from(&value), files)
}

/// The result of a call that failed. The model reads the error.
pub fn failed(error: &AbpError, run: Option<RunId>) -> ToolResult {
    let said = format!("{}: {}", error.code, error.message);
    ToolResult {
        content: vec![Block::Ours(json!({ "type": "text", "text": said }))],
        is_error: true,
        meta: meta(run, Some((ERROR, error.body.value().unwrap_or_default()))),
        ..ToolResult::default()
    }
}

/// The error of a call that somebody other than its caller has cancelled. As in the cancellation API, it says
/// how far the stop was seen, and what has stopped the call. The same stands again where MCP puts names of
/// one's own.
pub fn cancelled(tool: &str, id: &Id, stop: Stop, by: Option<StoppedBy>) -> RpcError {
    let stop = stop.as_str();
    let mut meta = json!({ STOP: stop });
    stopped_by::put(&mut meta, by, OURS);
    let mut data = json!({ "requestId": id.plain(), "partial": false, "stop": stop });
    stopped_by::put(&mut data, by, "");
    data["_meta"] = meta;
    let what = format!("Tool execution cancelled: {tool}");
    RpcError::new(code::CANCELLED, what).with_data(data)
}

fn meta(run: Option<RunId>, more: Option<(&str, Value)>) -> Value {
    let run = run.map(|run| (RUN, run.to_string().into()));
    let entries = run.into_iter().chain(more);
    Value::Object(entries.map(|(key, value)| (key.into(), value)).collect())
}

#[cfg(test)]
mod tests;
