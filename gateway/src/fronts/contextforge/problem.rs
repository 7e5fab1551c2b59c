//! What is wrong with a request, as FastAPI tells it.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fronts::refusal::Refusal;
use caphost::call::Error;

/// One item of the `detail` of a 422.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Problem {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where: `["body", "requestId"]`.
    loc: Vec<Value>,
    msg: String,
    /// What was found there; for something missing, what it is missing from.
    input: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctx: Option<Box<Value>>,
}

impl Problem {
    fn new(kind: &'static str, loc: Vec<Value>, msg: impl Into<String>, input: Value) -> Self {
        Problem {
            kind,
            loc,
            msg: msg.into(),
            input,
            ctx: None,
        }
    }

    /// There is no body, or a field is missing from it.
    pub(super) fn missing(field: Option<&str>, input: Value) -> Self {
        let loc = ["body"].into_iter().chain(field).map(Value::from);
        Problem::new("missing", loc.collect(), "Field required", input)
    }

    /// The body is JSON, but no object; or it is not sent as JSON.
    pub(super) fn not_an_object(input: Value) -> Self {
        let msg = "Input should be a valid dictionary or object to extract fields from";
        Problem::new("model_attributes_type", vec!["body".into()], msg, input)
    }

    /// The body is not JSON from `position` on.
    pub(super) fn not_json(position: usize, error: &serde_json::Error) -> Self {
        let loc = vec!["body".into(), position.into()];
        let mut problem = Problem::new("json_invalid", loc, "JSON decode error", json!({}));
        problem.ctx = Some(Box::new(json!({ "error": error.to_string() })));
        problem
    }

    /// A field is no string.
    pub(super) fn not_a_string(field: &str, input: Value) -> Self {
        let loc = vec!["body".into(), field.into()];
        Problem::new("string_type", loc, "Input should be a valid string", input)
    }

    /// A string has more characters than it may have.
    pub(super) fn too_long(part: &str, field: &str, max: usize, input: Value) -> Self {
        let loc = vec![part.into(), field.into()];
        let msg = format!("String should have at most {max} characters");
        let mut problem = Problem::new("string_too_long", loc, msg, input);
        problem.ctx = Some(Box::new(json!({ "max_length": max })));
        problem
    }
}

/// 422: all that is wrong, as details.
impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        let error = Error::invalid_params("The request cannot be processed");
        let error = error.with_details(Box::new(json!(problems)));
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, error)
    }
}
