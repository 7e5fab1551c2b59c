//! Reading messages.

use serde_json::Value;

use super::Id;

/// A message read.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request {
        /// What the answer must carry.
        id: Id,
        /// What is asked for.
        method: String,
        /// An object or an array; `null` counts as absent.
        params: Option<Value>,
    },
    /// It wants none, and must get none.
    Notification {
        /// What it tells.
        method: String,
        /// An object or an array; `null` counts as absent.
        params: Option<Value>,
    },
    /// The answer to a request of ours.
    Response {
        /// The request's id; `None` if the peer could not read it.
        id: Option<Id>,
        /// Its result, or its error.
        answer: Result<Value, Value>,
    },
    /// Several messages at once, which is not supported.
    Batch,
    /// None of these.
    Invalid {
        /// Its id, where it could be read.
        id: Option<Id>,
        /// What is wrong.
        fault: Fault,
    },
}

/// Why a message is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no object.
    NoObject,
    /// `jsonrpc` is not `"2.0"`.
    Version,
    /// There is no method, or it is no string.
    Method,
    /// The id is neither a string, nor a number, nor `null`.
    Id,
    /// The parameters are neither an object nor an array.
    Params,
}

impl Fault {
    /// What the peer is told.
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::NoObject => "A message is an object",
            Fault::Version => "A message has jsonrpc: \"2.0\"",
            Fault::Method => "A request has a method, which is a string",
            Fault::Id => "An id is a string, a number or null",
            Fault::Params => "Parameters are an object or an array",
        }
    }
}

/// Reads one message. What has a result or an error and no method is taken for a response however
/// malformed it is: an error is never answered with an error.
pub fn read(mut message: Value) -> Message {
    let Some(fields) = message.as_object_mut() else {
        return match message.is_array() {
            true => Message::Batch,
            false => invalid(None, Fault::NoObject),
        };
    };
    let has_id = fields.contains_key("id");
    let id = fields.get("id").and_then(Id::read);
    if !fields.contains_key("method") {
        let error = fields.remove("error").map(Err);
        if let Some(answer) = error.or_else(|| fields.remove("result").map(Ok)) {
            return Message::Response { id, answer };
        }
    }
    if fields.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return invalid(id, Fault::Version);
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return invalid(id, Fault::Method);
    };
    if has_id && id.is_none() {
        return invalid(None, Fault::Id);
    }
    let params = match fields.remove("params") {
        None | Some(Value::Null) => None,
        Some(params @ (Value::Object(_) | Value::Array(_))) => Some(params),
        Some(_) => return invalid(id, Fault::Params),
    };
    match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    }
}

fn invalid(id: Option<Id>, fault: Fault) -> Message {
    Message::Invalid { id, fault }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn id(id: Value) -> Id {
        Id::read(&id).unwrap()
    }

    #[test]
    fn requests_and_notifications_differ_by_the_id() {
        for it in [json!(0), json!(""), json!(null), json!(1.5), json!("a")] {
            let message = json!({ "jsonrpc": "2.0", "id": it, "method": "m", "params": [1] });
            let expected = Message::Request {
                id: id(it),
                method: "m".into(),
                params: Some(json!([1])),
            };
            assert_eq!(read(message), expected);
        }
        let expected = Message::Notification {
            method: "m".into(),
            params: None,
        };
        let message = json!({ "jsonrpc": "2.0", "method": "m", "params": null });
        assert_eq!(read(message), expected);
    }

    #[test]
    fn responses_are_known_by_what_they_carry() {
        let result = json!({ "jsonrpc": "2.0", "id": 0, "result": null });
        let answer = Ok(Value::Null);
        assert_eq!(
            read(result),
            Message::Response {
                id: Some(id(json!(0))),
                answer
            }
        );
        for broken in [
            json!({ "id": null, "error": { "code": -32700, "message": "" } }),
            json!({ "jsonrpc": "1.0", "error": null }),
            json!({ "id": true, "error": 7, "result": 8 }),
        ] {
            assert!(
                matches!(
                    read(broken.clone()),
                    Message::Response { answer: Err(_), .. }
                ),
                "{broken}"
            );
        }
    }

    #[test]
    fn what_is_no_message() {
        let known = Some(id(json!(7)));
        for (message, expected_id, expected) in [
            (json!("x"), None, Fault::NoObject),
            (json!(null), None, Fault::NoObject),
            (json!({}), None, Fault::Version),
            (
                json!({ "id": 7, "method": "m" }),
                known.clone(),
                Fault::Version,
            ),
            (
                json!({ "jsonrpc": 2.0, "id": 7, "method": "m" }),
                known.clone(),
                Fault::Version,
            ),
            (
                json!({ "jsonrpc": "2.0", "id": 7 }),
                known.clone(),
                Fault::Method,
            ),
            (
                json!({ "jsonrpc": "2.0", "id": 7, "method": 1, "result": 2 }),
                known.clone(),
                Fault::Method,
            ),
            (
                json!({ "jsonrpc": "2.0", "id": {}, "method": "m" }),
                None,
                Fault::Id,
            ),
            (
                json!({ "jsonrpc": "2.0", "id": 7, "method": "m", "params": "p" }),
                known,
                Fault::Params,
            ),
        ] {
            let Message::Invalid { id, fault } = read(message.clone()) else {
                panic!("{message}")
            };
            assert_eq!((id, fault), (expected_id, expected), "{message}");
        }
        for batch in [json!([]), json!([{ "jsonrpc": "2.0", "method": "m" }])] {
            assert_eq!(read(batch), Message::Batch);
        }
    }
}
