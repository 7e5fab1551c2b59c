//! The end of a call, in MCP's form.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::content::extract;
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
        meta: meta(run, Some((ERROR, error.body.clone()))),
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
mod tests {
    use caphost::dialect::mcp::STATELESS;

    use super::*;

    fn run() -> RunId {
        "6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e".parse().unwrap()
    }

    fn value(result: &ToolResult) -> Value {
        serde_json::to_value(result).unwrap()
    }

    fn ended(data: Value, promised: bool) -> Value {
        let metadata = json!({ "duration": 3 });
        let data = Some(Json::from(&data));
        value(&done(data, Some(metadata), || promised, &STATELESS, run()))
    }

    #[test]
    fn an_object_is_text_and_structured_content() {
        let got = ended(json!({ "a": 1 }), true);
        assert_eq!(got["structuredContent"], json!({ "a": 1 }));
        assert_eq!(
            got["content"],
            json!([{ "type": "text", "text": r#"{"a":1}"# }])
        );
        assert_eq!(got["isError"], false);
        assert_eq!(
            got["_meta"],
            json!({ "caphost/run": run().to_string(), "caphost/metadata": { "duration": 3 } })
        );
    }

    #[test]
    fn text_is_itself_and_other_values_are_json() {
        assert_eq!(ended(json!("hi"), false)["content"][0]["text"], "hi");
        assert_eq!(ended(json!([1, 2]), false)["content"][0]["text"], "[1,2]");
        assert_eq!(ended(json!(0), false)["content"][0]["text"], "0");
        let nothing = value(&done(None, None, || false, &STATELESS, run()));
        assert_eq!(nothing["content"], json!([]));
        assert!(nothing.get("structuredContent").is_none());
    }

    #[test]
    fn a_text_that_says_nothing_is_no_block() {
        for blank in ["", " ", "\n\t", "\u{a0}\u{2003}"] {
            assert_eq!(
                ended(json!(blank), false)["content"],
                json!([]),
                "{blank:?}"
            );
        }
        assert_eq!(ended(json!(" \"a"), false)["content"][0]["text"], " \"a");
    }

    #[test]
    fn an_older_client_is_not_told_what_it_cannot_read() {
        let data = json!({ "sound": "AAAA", "audio": "AAAA", "mimeType": "audio/wav" });
        for (version, structured, kind) in [
            ("2024-11-05", false, "resource"),
            ("2025-03-26", false, "audio"),
            ("2025-06-18", true, "audio"),
        ] {
            let version = Version::named(version).unwrap();
            let data = Some(Json::from(&data));
            let got = value(&done(data, None, || true, version, run()));
            assert_eq!(got.get("structuredContent").is_some(), structured);
            assert_eq!(got["content"][1]["type"], kind, "{}", version.name);
        }
    }

    #[test]
    fn files_are_not_hidden_behind_structured_content() {
        let file = json!({ "image": "AAAA", "mimeType": "image/png" });
        assert!(
            ended(file.clone(), false)
                .get("structuredContent")
                .is_none()
        );
        assert!(
            ended(json!({ "a": 1 }), false)
                .get("structuredContent")
                .is_some()
        );
        assert!(
            ended(file, true).get("structuredContent").is_some(),
            "it is promised"
        );
    }

    #[test]
    fn bytes_are_given_once() {
        let got = ended(
            json!({ "pdf": "JVBERi0=", "mimeType": "application/pdf" }),
            true,
        );
        assert_eq!(got.to_string().matches("JVBERi0=").count(), 1);
        let pointer = got["structuredContent"]["pdf"].as_str().unwrap();
        let target = pointer.strip_prefix('#').unwrap();
        assert_eq!(got.pointer(target), Some(&json!("JVBERi0=")));
        let whole = ended(json!([{ "image": "AAAA", "mimeType": "image/png" }]), false);
        assert_eq!(whole["content"][1]["type"], "image");
    }

    #[test]
    fn data_without_files_is_written_as_it_came() {
        let written = r#"{"b":1.0,"a":"\"","mimeTypes":[1e3]}"#;
        let result = done(
            Some(written.to_string().into()),
            None,
            || true,
            &STATELESS,
            run(),
        );
        let answer = answer(&Id::read(&json!(1)).unwrap(), Ok(result));
        assert!(answer.contains(&format!(r#""structuredContent":{written}"#)));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], written);
        let escaped = r#"{"a":"\u00e9"}"#;
        let result = done(
            Some(escaped.to_string().into()),
            None,
            || true,
            &STATELESS,
            run(),
        );
        assert_eq!(value(&result)["content"][0]["text"], r#"{"a":"é"}"#);
        let said = r#""a \"b\" \u0001""#;
        let result = done(
            Some(said.to_string().into()),
            None,
            || false,
            &STATELESS,
            run(),
        );
        assert_eq!(value(&result)["content"][0]["text"], "a \"b\" \u{1}");
    }

    #[test]
    fn a_file_is_found_however_its_members_are_escaped() {
        let written = r#"{"mime\u0054ype":"image/png","png":"AAAA"}"#;
        let result = done(
            Some(written.to_string().into()),
            None,
            || true,
            &STATELESS,
            run(),
        );
        assert_eq!(value(&result)["content"][1]["type"], "image");
    }

    #[test]
    fn a_broken_promise_is_an_error_with_what_came() {
        let got = ended(json!("text"), true);
        assert_eq!(got["isError"], true);
        assert_eq!(got["content"][1]["text"], "text");
        assert!(
            got["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("INTERNAL_ERROR: ")
        );
    }

    #[test]
    fn an_error_reads_as_code_and_message() {
        let error = AbpError::read(json!({
            "code": "RATE_LIMITED", "message": "Slow down", "retryable": true, "retryAfter": 5,
        }));
        let got = value(&failed(&error, Some(run())));
        assert_eq!(got["isError"], true);
        assert_eq!(
            got["content"],
            json!([{ "type": "text", "text": "RATE_LIMITED: Slow down" }])
        );
        assert_eq!(got["_meta"]["caphost/error"]["retryAfter"], 5);
        assert!(got.get("structuredContent").is_none());
    }

    #[test]
    fn a_cancelled_call_is_an_error_of_the_request() {
        let id = Id::read(&json!("7")).unwrap();
        assert_eq!(
            cancelled("export.pdf", &id, Stop::Returned, None).answer(id.value())["error"],
            json!({ "code": -32800, "message": "Tool execution cancelled: export.pdf",
                    "data": { "requestId": "7", "partial": false, "stop": "returned",
                              "_meta": { "caphost/stop": "returned" } } })
        );
        let by = caphost::call::StoppedBy::of_peer(Some("terminate"), Some(57.5));
        let error = cancelled("hash", &id, Stop::Terminated, by);
        assert_eq!(
            error.data,
            Some(json!({
                "requestId": "7", "partial": false,
                "stop": "terminated", "step": "terminate", "took": 57.5,
                "_meta": { "caphost/stop": "terminated", "caphost/step": "terminate", "caphost/took": 57.5 },
            }))
        );
    }
}
