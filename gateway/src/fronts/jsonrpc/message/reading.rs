//! Reading messages.

use super::Id;
use crate::wire::AnyValue as Value;
use crate::wire::shape::{ARRAY, MISSING, OBJECT, OTHER, TEXT};

/// A message read.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<V> {
    /// It wants an answer.
    Request {
        /// What the answer must carry.
        id: Id<V>,
        /// What is asked for.
        method: String,
        /// An object or an array; `null` counts as absent.
        params: Option<V>,
    },
    /// It wants none, and must get none.
    Notification {
        /// What it tells.
        method: String,
        /// An object or an array; `null` counts as absent.
        params: Option<V>,
    },
    /// The answer to a request of ours.
    Response {
        /// The request's id; `None` if the peer could not read it.
        id: Option<Id<V>>,
        /// Its result, or its error.
        answer: Result<V, V>,
    },
    /// Several messages at once, which is not supported.
    Batch,
    /// None of these.
    Invalid {
        /// Its id, where it could be read.
        id: Option<Id<V>>,
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
pub fn read<V: Value>(message: &V) -> Message<V> {
    if !message.is_object() {
        return match is_array(message) {
            true => Message::Batch,
            false => invalid(None, Fault::NoObject),
        };
    }
    let id = Id::read(message, "id");
    if message.shape("method") == MISSING {
        if message.shape("error") != MISSING {
            let error = message.get("error").unwrap_or_else(V::null);
            return Message::Response {
                id,
                answer: Err(error),
            };
        }
        if let Some(result) = message.get("result") {
            return Message::Response {
                id,
                answer: Ok(result),
            };
        }
    }
    if message.text_of("jsonrpc").as_deref() != Some("2.0") {
        return invalid(id, Fault::Version);
    }
    if message.shape("method") != TEXT {
        return invalid(id, Fault::Method);
    }
    let has_id = message.shape("id") != MISSING;
    if has_id && id.is_none() {
        return invalid(None, Fault::Id);
    }
    let params = match message.shape("params") {
        MISSING | OTHER => None,
        OBJECT | ARRAY => message.get("params"),
        _ => return invalid(id, Fault::Params),
    };
    let method = message.text_of("method").unwrap_or_default();
    match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    }
}

fn invalid<V>(id: Option<Id<V>>, fault: Fault) -> Message<V> {
    Message::Invalid { id, fault }
}

fn is_array<V: Value>(value: &V) -> bool {
    let mut holder = V::object();
    holder.put("it", value);
    holder.shape("it") == ARRAY
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn read(message: Json) -> Message<Json> {
        super::read(&message)
    }

    fn id(id: Json) -> Id<Json> {
        Id::read(&json!({ "id": id }), "id").unwrap()
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
        let answer = Ok(Json::Null);
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
