//! HTTP between the bridge and its gateway.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::time::timeout;

use super::message::{Request, error};
use super::session::Membership;
use super::{Endpoint, MESSAGE_BYTES};
use crate::fronts::jsonrpc::message::code;
use crate::http_client;

/// A stream that is silent for so long is dead: the gateway sends a comment every 15 s.
const SILENCE: Duration = Duration::from_secs(60);

pub const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// The way to one gateway.
pub struct Link {
    client: Client,
    endpoint: Endpoint,
}

impl Link {
    pub fn new(endpoint: Endpoint) -> Self {
        let client = http_client::builder().build();
        let client = client.unwrap_or_else(|_| http_client::client(SILENCE));
        Link { client, endpoint }
    }

    /// Posts a message of a session.
    pub async fn post(&self, body: String, of: &Membership) -> reqwest::Result<Response> {
        self.request(Method::POST, of).body(body).send().await
    }

    /// Posts a request that belongs to no session.
    pub async fn post_alone(&self, body: String, it: &Request) -> reqwest::Result<Response> {
        let none = Membership {
            session: None,
            version: it.version.clone(),
        };
        let mut request = self.request(Method::POST, &none).body(body);
        request = request.header("mcp-method", header_value(&it.method));
        if let Some(name) = &it.name {
            request = request.header("mcp-name", header_value(name));
        }
        request.send().await
    }

    /// Opens a stream of what is no answer.
    pub async fn listen(&self, of: &Membership) -> reqwest::Result<Response> {
        self.request(Method::GET, of).send().await
    }

    /// Ends a session.
    pub async fn leave(&self, of: &Membership) -> reqwest::Result<Response> {
        self.request(Method::DELETE, of).send().await
    }

    fn request(&self, method: Method, of: &Membership) -> RequestBuilder {
        let mut request = self
            .client
            .request(method.clone(), self.endpoint.url.clone())
            .header(ACCEPT, "application/json, text/event-stream");
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(authorization) = &self.endpoint.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(session) = &of.session {
            request = request.header(SESSION, session);
        }
        if let Some(version) = &of.version {
            request = request.header(VERSION, version);
        }
        request
    }

    /// The answer to a request that could not be sent.
    pub fn unreachable(&self, id: &Value, cause: &reqwest::Error) -> String {
        let mut root: &dyn std::error::Error = cause;
        while let Some(source) = root.source() {
            root = source;
        }
        let at = self.endpoint.url.origin().ascii_serialization();
        let message =
            format!("Cannot reach the gateway at {at}: {root}. Is `caphost serve` running there?");
        error(
            id,
            code::FAILED,
            &message,
            Some(json!({ "code": "DISCONNECTED", "retryable": true })),
        )
    }
}

/// The messages of an answer, as they come, until its end, be it the right one or a broken
/// connection.
pub fn messages(response: Response) -> BoxStream<'static, String> {
    let kind = response.headers().get(CONTENT_TYPE);
    let is_stream = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    if !is_stream {
        let body = stream::once(whole(response));
        let messages = body.filter_map(|body| ready(body.filter(|it| !it.trim().is_empty())));
        return messages.boxed();
    }
    let chunks = stream::unfold(response, |mut response| async {
        let chunk = match timeout(SILENCE, response.chunk()).await {
            Ok(chunk) => chunk.transpose()?,
            Err(_) => return None,
        };
        Some((chunk, response))
    });
    let events = SseStream::from_bytes_stream(chunks.boxed());
    let data = events.map(|event| match event {
        Ok(event) => Some(event.data.unwrap_or_default()),
        Err(error) => {
            tracing::debug!(%error, "a stream broke off");
            None
        }
    });
    let data = data.take_while(|data| ready(data.is_some()));
    data.filter_map(|data| ready(data.filter(|data| !data.is_empty())))
        .boxed()
}

/// An answer that is no success, as the answer to the request with that id.
pub async fn failure(response: Response, id: &Value) -> String {
    let status = response.status();
    let body = whole(response).await.unwrap_or_default();
    let said: Value = serde_json::from_str(&body).unwrap_or_default();
    if said["error"]["code"].is_i64() {
        let mut answer = said;
        answer["id"] = id.clone();
        return answer.to_string();
    }
    // An error of ABP, or of what stands between.
    let message = said["error"]["message"].as_str().map(str::to_string);
    let message = message.unwrap_or_else(|| format!("The gateway answers with status {status}"));
    let data = said.get("error").filter(|it| it.is_object()).cloned();
    error(id, code::FAILED, &message, data)
}

async fn whole(mut response: Response) -> Option<String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MESSAGE_BYTES {
            return None;
        }
    }
    String::from_utf8(body).ok()
}

/// A header's value: as it is where a header can carry that, else in base64, as the protocol has it.
fn header_value(text: &str) -> String {
    let plain = !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t'])
        && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain {
        text.to_string()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_a_header() {
        assert_eq!(header_value("export.pdf"), "export.pdf");
        assert_eq!(header_value("é"), "=?base64?w6k=?=");
        assert_eq!(header_value("a\r\nb"), "=?base64?YQ0KYg==?=");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
        assert_eq!(
            header_value("=?base64?x?="),
            format!("=?base64?{}?=", STANDARD.encode("=?base64?x?="))
        );
    }
}
