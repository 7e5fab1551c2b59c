use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;

use super::*;

fn read(body: &str) -> Result<CancelRequest, Value> {
    read_as("application/json", body)
}

fn read_as(kind: &'static str, body: &str) -> Result<CancelRequest, Value> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    CancelRequest::read(&headers, body.as_bytes()).map_err(Value::from)
}

#[test]
fn an_id_under_either_name_and_a_reason_or_none() {
    for (body, id, reason) in [
        (r#"{"requestId":"1"}"#, "1", None),
        (r#"{"request_id":"1","reason":null}"#, "1", None),
        (r#"{"requestId":"","reason":"r"}"#, "", Some("r")),
        (r#"{"requestId":"1","request_id":2}"#, "1", None),
    ] {
        let wanted = CancelRequest {
            request_id: id.into(),
            reason: reason.map(String::from),
        };
        assert_eq!(read(body), Ok(wanted), "{body}");
    }
    assert!(read_as("Application/JSON; charset=utf-8", r#"{"requestId":"1"}"#).is_ok());
    assert!(read_as("application/merge+json", r#"{"requestId":"1"}"#).is_ok());
}

#[test]
fn problems_are_told_as_fastapi_tells_them() {
    let not_an_object = "Input should be a valid dictionary or object to extract fields from";
    for (body, problems) in [
        (
            "",
            json!([{ "type": "missing", "loc": ["body"], "msg": "Field required", "input": null }]),
        ),
        (
            r#"{"reason":"r"}"#,
            json!([{ "type": "missing", "loc": ["body", "requestId"], "msg": "Field required",
                    "input": { "reason": "r" } }]),
        ),
        (
            r#"{"requestId":1,"reason":[]}"#,
            json!([
                { "type": "string_type", "loc": ["body", "requestId"],
                    "msg": "Input should be a valid string", "input": 1 },
                { "type": "string_type", "loc": ["body", "reason"],
                    "msg": "Input should be a valid string", "input": [] },
            ]),
        ),
        (
            r#"{"request_id":null}"#,
            json!([{ "type": "string_type", "loc": ["body", "request_id"],
                    "msg": "Input should be a valid string", "input": null }]),
        ),
        (
            "[]",
            json!([{ "type": "model_attributes_type", "loc": ["body"], "msg": not_an_object,
                    "input": [] }]),
        ),
    ] {
        assert_eq!(read(body), Err(problems), "{body}");
    }
}

#[test]
fn what_is_too_long_is_refused() {
    let body = |id: usize, reason: usize| {
        json!({ "requestId": "é".repeat(id), "reason": "é".repeat(reason) }).to_string()
    };
    assert!(read(&body(ID_CHARS, REASON_CHARS)).is_ok());
    let problems = read(&body(ID_CHARS + 1, REASON_CHARS + 1)).unwrap_err();
    for (at, max) in [(0, ID_CHARS), (1, REASON_CHARS)] {
        assert_eq!(problems[at]["type"], "string_too_long");
        assert_eq!(problems[at]["ctx"]["max_length"], max);
    }
}

#[test]
fn a_syntax_error_is_told_with_its_place() {
    for (body, place) in [
        ("{", 1),
        ("nonsense", 1),
        ("{\"requestId\":\n x}", 15),
        ("{} {}", 3),
    ] {
        let problems = read(body).unwrap_err();
        assert_eq!(problems[0]["type"], "json_invalid", "{body}");
        assert_eq!(problems[0]["loc"], json!(["body", place]), "{body}");
    }
    let deep = format!(r#"{{"requestId":{}"#, "[".repeat(10_000));
    assert_eq!(read(&deep).unwrap_err()[0]["type"], "json_invalid");
}

#[test]
fn what_is_not_sent_as_json_is_not_read() {
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonp",
    ] {
        let problems = read_as(kind, r#"{"requestId":"1"}"#).unwrap_err();
        assert_eq!(problems[0]["type"], "model_attributes_type", "{kind}");
    }
}
