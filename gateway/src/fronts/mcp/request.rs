//! What is looked at of a request's body before the SDK gets it.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, ErrorData, InitializeRequestParams, NumberOrString, ProtocolVersion,
    RequestId,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::call::Ended;
use super::refusal::{invalid_request, parse_error};
use crate::fronts::refusal::Refusal;
use crate::wire::check;

/// A message, as far as it matters where it goes.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    /// Its id, as it stands there: `null` is one, if a wrong one.
    #[serde(borrow, default, deserialize_with = "present")]
    pub id: Option<&'a RawValue>,
    /// Its method.
    #[serde(borrow)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a body. The error comes with the id it is answered under, if there is one.
    pub fn read(body: &'a [u8]) -> Result<Self, (Refusal, Option<&'a RawValue>)> {
        let not_text = |error| (parse_error(format!("Not JSON: {error}")), None);
        let body = std::str::from_utf8(body).map_err(not_text)?;
        let message = match serde_json::from_str::<Message>(body) {
            Ok(message) if !is_batch(body) => message,
            read => return Err((no_message(body, read.err()), None)),
        };
        let objection = message.objection().map(String::from);
        let unreadable = || {
            let error = check(body).err()?;
            Some(format!("It cannot be read: {error}"))
        };
        match objection.or_else(unreadable) {
            None => Ok(message),
            Some(what) => {
                let id = message.id.filter(|id| is_id(id));
                Err((invalid_request(what), id))
            }
        }
    }

    fn objection(&self) -> Option<&'static str> {
        if self.jsonrpc.as_deref() != Some("2.0") {
            return Some("`jsonrpc` must be \"2.0\"");
        }
        if self.method.is_none() && self.result.is_none() && self.error.is_none() {
            return Some("A message has a `method`, a `result` or an `error`");
        }
        let is_request = self.method.is_some();
        if is_request && self.id.is_some_and(|id| !is_id(id)) {
            return Some("`id` must be a string or an integer");
        }
        None
    }

    /// Whether nothing answers it.
    pub fn is_notification(&self) -> bool {
        self.method.is_some() && self.id.is_none()
    }

    /// Whether it is a call of a tool.
    pub fn calls_a_tool(&self) -> bool {
        self.method.as_deref() == Some("tools/call")
    }

    /// A call of a tool: its id, and its parameters, or what is wrong with them. None if it names a
    /// version that has no sessions, or another than the header's: the SDK says what comes of that.
    pub fn tool_call(
        &self,
        header: Option<&str>,
    ) -> Option<(RequestId, Result<CallToolRequestParams, Ended>)> {
        let id = serde_json::from_str(self.id?.get()).ok()?;
        let params = self.params.map_or("null", RawValue::get);
        let Ok(params) = serde_json::from_str::<CallToolRequestParams>(params) else {
            let message = "The parameters are not those of tools/call";
            return Some((id, Err(Err(ErrorData::invalid_params(message, None)))));
        };
        let meta = params.meta.as_ref();
        let named = meta.and_then(|meta| meta.protocol_version());
        let belongs = |named: &ProtocolVersion| {
            named.has_initialize() && header.is_none_or(|header| header == named.as_str())
        };
        named
            .as_ref()
            .is_none_or(belongs)
            .then_some((id, Ok(params)))
    }

    /// Whether it begins a session, or tells what one would find.
    pub fn begins(&self) -> bool {
        matches!(
            self.method.as_deref(),
            Some("initialize" | "server/discover")
        )
    }

    /// Whether it is `initialize`.
    pub fn is_initialize(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }

    /// What is wrong with the parameters of `initialize`.
    pub fn bad_initialize(&self) -> Option<String> {
        let params = self.params.map_or("null", |params| params.get());
        let read = serde_json::from_str::<InitializeRequestParams>(params);
        read.err()
            .map(|error| format!("The parameters of initialize: {error}"))
    }
}

/// Why a body is no message: it is not JSON, or not what it should be.
fn no_message(body: &str, error: Option<serde_json::Error>) -> Refusal {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(body) {
        return parse_error(format!("Not JSON: {error}"));
    }
    invalid_request(match error {
        Some(error) if !is_batch(body) => format!("No message of JSON-RPC: {error}"),
        _ => "Batches are not part of this protocol: send one message at a time".into(),
    })
}

fn is_batch(body: &str) -> bool {
    body.trim_start().starts_with('[')
}

fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

fn is_id(id: &RawValue) -> bool {
    serde_json::from_str::<NumberOrString>(id.get()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::http::StatusCode;
    use serde_json::Value;

    async fn refused(body: &str) -> Value {
        let (refusal, id) = Message::read(body.as_bytes()).unwrap_err();
        let response = refusal.in_json_rpc(id);
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let bytes = to_bytes(response.into_body(), 10_000).await.unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[tokio::test]
    async fn what_is_no_message_is_refused_in_json_rpc() {
        for (body, code, id) in [
            ("", -32700, Value::Null),
            ("{", -32700, Value::Null),
            ("\u{0}", -32700, Value::Null),
            ("[]", -32600, Value::Null),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                -32600,
                Value::Null,
            ),
            ("7", -32600, Value::Null),
            ("\"ping\"", -32600, Value::Null),
            ("{}", -32600, Value::Null),
            (r#"{"id":5,"method":"ping"}"#, -32600, 5.into()),
            (
                r#"{"jsonrpc":"1.0","id":"","method":"ping"}"#,
                -32600,
                "".into(),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                Value::Null,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
                -32600,
                Value::Null,
            ),
        ] {
            let answer = refused(body).await;
            assert_eq!(
                (&answer["error"]["code"], &answer["id"]),
                (&code.into(), &id),
                "{body}"
            );
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let read = |body: &'static str| Message::read(body.as_bytes()).unwrap();
        assert!(read(r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#).is_initialize());
        assert!(read(r#"{"jsonrpc":"2.0","id":"","method":"server/discover"}"#).begins());
        assert!(!read(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).begins());
        assert!(
            read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
                .method
                .is_none()
        );
        let bare = read(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
        assert!(bare.bad_initialize().unwrap().contains("protocolVersion"));
    }
}
