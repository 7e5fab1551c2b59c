//! HTTP between the bridge and its gateway.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Endpoint;
use super::events::Events;
use super::message::{Request, error};
use crate::http_client;

/// A stream that is silent for so long is dead: the gateway sends a comment every 15 s.
const SILENCE: Duration = Duration::from_secs(60);
/// What is read of an answer that is no stream, 256 MiB.
const MAX_ANSWER_BYTES: usize = 256 << 20;

pub const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// The session requests belong to.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    /// Its id.
    pub session: Option<String>,
    /// The version agreed on.
    pub version: Option<String>,
}

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
        let request = self.request(Method::POST, of).body(body);
        request
            .header(CONTENT_TYPE, "application/json")
            .send()
            .await
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
        request
            .header(CONTENT_TYPE, "application/json")
            .send()
            .await
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
            .request(method, self.endpoint.url.clone())
            .header(ACCEPT, "application/json, text/event-stream");
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
            -32000,
            &message,
            Some(json!({ "code": "DISCONNECTED", "retryable": true })),
        )
    }
}

/// What comes in an answer, as it comes.
pub struct Incoming {
    response: Response,
    events: Option<Events>,
    ready: std::collections::VecDeque<String>,
    over: bool,
}

impl Incoming {
    pub fn new(response: Response) -> Self {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
        let events = kind.starts_with("text/event-stream").then(Events::default);
        Incoming {
            response,
            events,
            ready: Default::default(),
            over: false,
        }
    }

    /// The next message; none at the end, be it the right one or a broken connection.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.over {
                return None;
            }
            let Some(events) = &mut self.events else {
                self.over = true;
                let body = whole(&mut self.response).await?;
                return Some(body).filter(|body| !body.trim().is_empty());
            };
            match timeout(SILENCE, self.response.chunk()).await {
                Ok(Ok(Some(chunk))) => self.ready.extend(events.read(&chunk)),
                ended => {
                    if let Ok(Err(error)) = ended {
                        tracing::debug!(%error, "a stream broke off");
                    }
                    self.over = true;
                }
            }
        }
    }
}

/// An answer that is no success, as the answer to the request with that id.
pub async fn failure(mut response: Response, id: &Value) -> String {
    let status = response.status();
    let body = whole(&mut response).await.unwrap_or_default();
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
    error(id, -32000, &message, data)
}

async fn whole(response: &mut Response) -> Option<String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER_BYTES {
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
