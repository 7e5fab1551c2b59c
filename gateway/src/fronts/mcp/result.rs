//! How a call ended, as MCP says it.

use serde_json::{Value, json};

use super::content::extract;
use crate::broker::runs::RunId;
use crate::gateway::AbpError;
use crate::wire::json_rpc::{Id, RpcError, code, success};
use crate::wire::stopped_by;
use caphost::call::{Code, Stop, StoppedBy};

/// How a call ends, for MCP.
pub type Ended = Result<Value, RpcError>;

/// Keys of `_meta`.
const RUN: &str = "caphost/run";
const METADATA: &str = "caphost/metadata";
const ERROR: &str = "caphost/error";
const STOP: &str = "caphost/stop";
/// What the names of what is ours begin with.
const OURS: &str = "caphost/";

/// A result as it is since there are no sessions.
pub fn complete(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result
}

/// The answer to a request, as text.
pub fn answer(id: &Id, ended: Ended) -> String {
    let answer = match ended {
        Ok(result) => success(id.value(), result),
        Err(error) => error.answer(id.value()),
    };
    answer.to_string()
}

/// The result of a call that succeeded. If the tool has `promised` an output schema, clients insist
/// on structured content.
pub fn done(
    data: Option<Value>,
    metadata: Option<Value>,
    promised: impl FnOnce() -> bool,
    run: RunId,
) -> Value {
    let mut data = data.unwrap_or(Value::Null);
    let files = extract(&mut data, 1, run);
    let said = match &data {
        Value::Null => None,
        Value::String(said) => Some(text(said.clone())),
        other => Some(text(other.to_string())),
    };
    let content = said.into_iter().chain(files);
    let mut result = json!({ "isError": false });
    if data.is_object() {
        result["structuredContent"] = data;
    } else if promised() {
        let error = AbpError::new(
            Code::INTERNAL_ERROR,
            "The app's answer is not the object its outputSchema promises",
        );
        let mut result = failed(&error, Some(run));
        let said = result["content"].as_array_mut();
        said.into_iter().for_each(|it| it.extend(content.clone()));
        return result;
    }
    result["content"] = content.collect();
    result["_meta"] = meta(Some(run), metadata.map(|it| (METADATA, it)));
    result
}

/// The result of a call that failed: what went wrong is for the model to read.
pub fn failed(error: &AbpError, run: Option<RunId>) -> Value {
    json!({
        "content": [text(format!("{}: {}", error.code, error.message))],
        "isError": true,
        "_meta": meta(run, Some((ERROR, error.body.clone()))),
    })
}

/// The error of a call that something other than its caller has cancelled: the cancellation API's,
/// how far the stop was seen, and what has stopped it, where MCP has what is ours too.
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

/// A block of text. `json!` would copy it, and it may be large.
fn text(text: String) -> Value {
    let mut block = json!({ "type": "text" });
    block["text"] = text.into();
    block
}

fn meta(run: Option<RunId>, more: Option<(&str, Value)>) -> Value {
    let run = run.map(|run| (RUN, run.to_string().into()));
    let entries = run.into_iter().chain(more);
    Value::Object(entries.map(|(key, value)| (key.into(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        "6a0e9d0c-6c0b-4a0e-9b9e-0b8f4d2a1c3e".parse().unwrap()
    }

    fn ended(data: Value, promised: bool) -> Value {
        let metadata = json!({ "duration": 3 });
        done(Some(data), Some(metadata), || promised, run())
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
        let nothing = done(None, None, || false, run());
        assert_eq!(nothing["content"], json!([]));
        assert!(nothing.get("structuredContent").is_none());
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
        let got = failed(&error, Some(run()));
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
        let by = stopped_by::read(Some("terminate"), Some(57.5));
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
