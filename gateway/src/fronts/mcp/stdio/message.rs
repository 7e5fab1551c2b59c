//! What a client sends.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::wire::read_value;

/// Where the version stands in a request that says its own.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of the client.
#[derive(Debug)]
pub enum Message {
    /// Something is to be answered.
    Request(Request),
    /// A request is to be cancelled: its id, as [`key`] has it.
    Cancelled(String),
    /// Anything else, with its method if it is a notification.
    Other(Option<String>),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its id.
    pub id: Value,
    /// Its method.
    pub method: String,
    /// What it is about: the name of a tool or prompt, the URI of a resource.
    pub name: Option<String>,
    /// Its version, if it says so itself: it belongs to no session then.
    pub version: Option<String>,
}

impl Message {
    /// Reads a line. The error is the answer to what is no message.
    pub fn read(line: &str) -> Result<Self, String> {
        let refuse = |code: i32, id: &Value, message: &str| Err(error(id, code, message, None));
        let message = match read_value(line) {
            Ok(message) => message,
            Err(_) => return refuse(-32700, &Value::Null, "Not JSON"),
        };
        if !message.is_object() {
            let what = "A message is an object; batches are not part of this protocol";
            return refuse(-32600, &Value::Null, what);
        }
        let method = message["method"].as_str().map(str::to_string);
        let Some(method) = method else {
            return Ok(Message::Other(None));
        };
        let params = &message["params"];
        if method == "notifications/cancelled" && message.get("id").is_none() {
            return Ok(Message::Cancelled(key(&params["requestId"])));
        }
        match message.get("id") {
            None => Ok(Message::Other(Some(method))),
            Some(id @ (Value::String(_) | Value::Number(_))) => {
                let text = |value: &Value| value.as_str().map(str::to_string);
                Ok(Message::Request(Request {
                    id: id.clone(),
                    name: text(&params["name"]).or_else(|| text(&params["uri"])),
                    version: text(&params["_meta"][VERSION]),
                    method,
                }))
            }
            Some(_) => refuse(-32600, &Value::Null, "`id` must be a string or an integer"),
        }
    }
}

/// An id as a key: `1` and `"1"` are two.
pub fn key(id: &Value) -> String {
    id.to_string()
}

/// An answer that says what went wrong.
pub fn error(id: &Value, code: i32, message: &str, data: Option<Value>) -> String {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// Whether `text` answers the request with that id.
pub fn answers(text: &str, id: &Value) -> bool {
    #[derive(serde::Deserialize)]
    struct Answer<'a> {
        id: Option<Value>,
        #[serde(borrow)]
        method: Option<&'a RawValue>,
    }
    let answer: Result<Answer, _> = serde_json::from_str(text);
    answer.is_ok_and(|it| it.method.is_none() && it.id.as_ref() == Some(id))
}

/// The same message in one line, if it is JSON.
pub fn one_line(text: String) -> Option<String> {
    if !text.contains(['\n', '\r']) {
        return Some(text);
    }
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = |line: &str| Message::read(line).unwrap();
        let Message::Request(request) = read(
            r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"a.b","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        ) else {
            panic!("a request");
        };
        assert_eq!((request.id, &*request.method), (json!(0), "tools/call"));
        assert_eq!(request.name.as_deref(), Some("a.b"));
        assert_eq!(request.version.as_deref(), Some("2026-07-28"));
        assert!(matches!(
            read(r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#),
            Message::Cancelled(id) if id == "\"1\""
        ));
        assert!(matches!(
            read(r#"{"method":"notifications/initialized"}"#),
            Message::Other(Some(_))
        ));
        assert!(matches!(
            read(r#"{"id":1,"result":{}}"#),
            Message::Other(None)
        ));
    }

    #[test]
    fn what_is_no_message_is_answered_at_once() {
        for (line, code) in [
            ("{", -32700),
            ("hello", -32700),
            ("[]", -32600),
            ("7", -32600),
            (r#"{"id":null,"method":"ping"}"#, -32600),
        ] {
            let answer = Message::read(line).unwrap_err();
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(
                (&answer["error"]["code"], &answer["id"]),
                (&json!(code), &Value::Null)
            );
        }
    }

    #[test]
    fn answers_are_recognised_by_their_id() {
        assert!(answers(r#"{"id":"1","result":{}}"#, &json!("1")));
        assert!(!answers(r#"{"id":1,"result":{}}"#, &json!("1")));
        assert!(!answers(
            r#"{"id":1,"method":"elicitation/create"}"#,
            &json!(1)
        ));
        assert!(!answers(
            r#"{"method":"notifications/progress"}"#,
            &json!(1)
        ));
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(one_line("{\"a\":\n1}".into()).as_deref(), Some("{\"a\":1}"));
        assert_eq!(one_line("{\n".into()), None);
    }
}
