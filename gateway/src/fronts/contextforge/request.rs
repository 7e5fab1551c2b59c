//! The request of a cancel, and its mistakes in FastAPI's form.

use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};

use crate::broker::calls::{ID_CHARS, REASON_CHARS};
use crate::fronts::media_type::content_type;
use crate::fronts::refusal::Refusal;
use crate::wire::mended_bytes;
use caphost::call::Error;

/// `{ "requestId": string, "reason"?: string | null }`, or with `request_id`.
#[derive(Debug, PartialEq)]
pub(super) struct CancelRequest {
    pub request_id: String,
    pub reason: Option<String>,
}

impl CancelRequest {
    /// Reads a body. The error contains all mistakes.
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, Vec<Value>> {
        let fields = object(headers, body).map_err(|problem| vec![problem])?;
        let given = ["requestId", "request_id"]
            .into_iter()
            .find_map(|name| Some((name, fields.get(name)?)));
        let request_id = match given {
            Some((name, value)) => string(name, value, ID_CHARS),
            None => Err(missing(json!(["body", "requestId"]), json!(fields))),
        };
        let reason = match fields.get("reason") {
            None | Some(Value::Null) => Ok(None),
            Some(value) => string("reason", value, REASON_CHARS).map(Some),
        };
        match (request_id, reason) {
            (Ok(request_id), Ok(reason)) => Ok(CancelRequest { request_id, reason }),
            (request_id, reason) => Err(request_id.err().into_iter().chain(reason.err()).collect()),
        }
    }
}

/// The fields of the body. Only JSON is read, because a page of another origin may send any other type
/// without asking.
fn object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Value> {
    if body.is_empty() {
        return Err(missing(json!(["body"]), Value::Null));
    }
    if !is_json(headers) {
        return Err(not_an_object(String::from_utf8_lossy(body).into()));
    }
    match serde_json::from_slice(&mended_bytes(body)) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(not_an_object(other)),
        Err(error) => Err(not_json(position(body, &error), &error)),
    }
}

/// `application/json`, or `application/…+json`.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = content_type(headers);
    kind.strip_prefix("application/")
        .is_some_and(|kind| kind == "json" || kind.ends_with("+json"))
}

fn string(field: &str, value: &Value, max: usize) -> Result<String, Value> {
    let loc = json!(["body", field]);
    match value {
        Value::String(text) if text.chars().count() <= max => Ok(text.clone()),
        Value::String(_) => Err(too_long(loc, max, value.clone())),
        _ => {
            let msg = "Input should be a valid string";
            Err(problem("string_type", loc, msg, value.clone()))
        }
    }
}

/// The position in the text where the JSON is invalid.
fn position(body: &[u8], error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return body.len();
    }
    let before = body.split(|byte| *byte == b'\n');
    let lines = before.take(error.line().saturating_sub(1));
    lines.map(|line| line.len() + 1).sum::<usize>() + error.column().saturating_sub(1)
}

/// One item of the `detail` of a 422. At `loc`, for example `["body", "requestId"]`, the value `input` was
/// found. If something is missing, `input` is the value that lacks it.
fn problem(kind: &str, loc: Value, msg: &str, input: Value) -> Value {
    json!({ "type": kind, "loc": loc, "msg": msg, "input": input })
}

/// The body or a field of the body is missing.
fn missing(loc: Value, input: Value) -> Value {
    problem("missing", loc, "Field required", input)
}

/// The body is JSON but not an object, or is not sent as JSON.
fn not_an_object(input: Value) -> Value {
    let msg = "Input should be a valid dictionary or object to extract fields from";
    problem("model_attributes_type", json!(["body"]), msg, input)
}

/// The body is not valid JSON at `position`.
fn not_json(position: usize, error: &serde_json::Error) -> Value {
    let (loc, msg) = (json!(["body", position]), "JSON decode error");
    let mut problem = problem("json_invalid", loc, msg, json!({}));
    problem["ctx"] = json!({ "error": error.to_string() });
    problem
}

/// A string has too many characters.
pub(super) fn too_long(loc: Value, max: usize, input: Value) -> Value {
    let msg = format!("String should have at most {max} characters");
    let mut problem = problem("string_too_long", loc, &msg, input);
    problem["ctx"] = json!({ "max_length": max });
    problem
}

/// A 422 with all mistakes as details.
pub(super) fn refusal(problems: Vec<Value>) -> Refusal {
    let error = Error::invalid_params("The request cannot be processed");
    let error = error.with_details(Box::new(json!(problems)));
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error)
}

#[cfg(test)]
mod tests;
