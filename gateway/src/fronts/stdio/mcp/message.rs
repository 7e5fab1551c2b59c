//! What a client sends.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::fronts::jsonrpc::message::{self, Id, code};
use crate::wire::read_value;

/// Where the version stands in a request that says its own.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of the client.
#[derive(Debug)]
pub enum Message {
    /// Something is to be answered.
    Request(Request),
    /// The request with that id is to be cancelled.
    Cancelled(Id),
    /// Anything else, with its method if it is a notification.
    Other(Option<String>),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its id.
    pub id: Id,
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
        let refuse = |code: i32, message: &str| Err(error(&Value::Null, code, message, None));
        let Ok(message) = read_value(line) else {
            return refuse(code::PARSE_ERROR, "Not JSON");
        };
        if !message.is_object() {
            let what = "A message is an object; batches are not part of this protocol";
            return refuse(code::INVALID_REQUEST, what);
        }
        let text = |value: &Value| value.as_str().map(str::to_string);
        let Some(method) = text(&message["method"]) else {
            return Ok(Message::Other(None));
        };
        let params = &message["params"];
        match message.get("id") {
            None if method == "notifications/cancelled" => {
                let meant = Id::read(&params["requestId"]);
                Ok(meant.map_or(Message::Other(Some(method)), Message::Cancelled))
            }
            None => Ok(Message::Other(Some(method))),
            Some(id) => match Id::read(id).filter(|_| !id.is_null()) {
                Some(id) => Ok(Message::Request(Request {
                    id,
                    name: text(&params["name"]).or_else(|| text(&params["uri"])),
                    version: text(&params["_meta"][VERSION]),
                    method,
                })),
                None => refuse(code::INVALID_REQUEST, "`id` must be a string or an integer"),
            },
        }
    }
}

/// An answer that says what went wrong.
pub fn error(id: &Value, code: i32, message: &str, data: Option<Value>) -> String {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    message::error(id, &error).to_string()
}

/// Whether `text` answers the request with that id.
pub fn answers(text: &str, id: &Id) -> bool {
    #[derive(Deserialize)]
    struct Answer {
        id: Option<Value>,
        method: Option<IgnoredAny>,
    }
    let answer: Result<Answer, _> = serde_json::from_str(text);
    answer.is_ok_and(|it| it.method.is_none() && it.id.as_ref() == Some(id.value()))
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
        assert_eq!(request.id.value(), &json!(0));
        assert_eq!(request.method, "tools/call");
        assert_eq!(request.name.as_deref(), Some("a.b"));
        assert_eq!(request.version.as_deref(), Some("2026-07-28"));
        assert!(matches!(
            read(r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#),
            Message::Cancelled(id) if id.value() == "1"
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
        let answers = |text: &str, id: Value| answers(text, &Id::read(&id).unwrap());
        let answer = r#"{"id":"1","result":{}}"#;
        assert!(answers(answer, json!("1")) && !answers(answer, json!(1)));
        let request = r#"{"id":1,"method":"elicitation/create"}"#;
        assert!(!answers(request, json!(1)));
        let notification = r#"{"method":"notifications/progress"}"#;
        assert!(!answers(notification, json!(1)));
    }
}
