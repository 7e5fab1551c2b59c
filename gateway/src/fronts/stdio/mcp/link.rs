//! The gateway for the bridge: HTTP, and the session, which the client does not see.

use std::time::Duration;

use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::time::timeout;
use url::Url;

use super::super::MESSAGE_BYTES;
use crate::fronts::mcp::header::{METHOD, NAME, SESSION, VERSION, encoded};
use crate::http_client::{self, innermost, whole_body};
use crate::limits::MAX_DEPTH;
use crate::wire::json_rpc::{Id, Message, RpcError, code, read};
use caphost::dialect::mcp::Version;

/// A stream that is silent for this long is dead, because the gateway sends a comment every 15 s.
const SILENCE: Duration = Duration::from_secs(60);

/// Streams are preferred: the head of a stream comes at once, and a cancel of the request waits for that
/// head.
const ACCEPTED: &str = "text/event-stream, application/json;q=0.9";

/// The member with the version, in a request that names its own version.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The gateway's URL and the authorization.
#[derive(Clone)]
pub struct Endpoint {
    /// The URL of `/mcp` or `/mcp/<app id>`.
    pub url: Url,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// A request of the client.
#[derive(Clone, Debug)]
pub struct Request {
    /// The request's id.
    pub id: Id,
    /// The request's method.
    method: String,
    /// The subject: the name of a tool or prompt, the URI of a resource, or the id of a task.
    name: Option<String>,
    /// The request's version, if the request names it.
    version: Option<String>,
}

impl Request {
    /// Reads the request's parameters.
    pub fn new(id: Id, method: &str, params: Option<&str>) -> Self {
        let params = params.and_then(|params| serde_json::from_str(params).ok());
        let params: Value = params.unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_string);
        Request {
            id,
            method: method.into(),
            name: (["name", "uri", "taskId"].iter()).find_map(|key| text(&params[*key])),
            version: text(&params["_meta"][META_VERSION]),
        }
    }

    /// Whether the request belongs to no session, because it names everything itself.
    pub fn is_alone(&self) -> bool {
        self.version.is_some()
    }

    /// Whether the request calls a tool, or asks for the result of a call.
    pub fn calls(&self) -> bool {
        ["tools/call", "tasks/result"].contains(&&*self.method)
    }

    /// Whether the request begins a session.
    pub fn begins(&self) -> bool {
        self.method == "initialize" && !self.is_alone()
    }
}

/// The session that requests belong to.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    /// The session's id.
    pub session: Option<String>,
    /// The version of the session.
    version: Option<String>,
}

/// The link to one gateway.
pub struct Link {
    client: Client,
    endpoint: Endpoint,
}

impl Link {
    pub fn new(endpoint: Endpoint) -> Self {
        Link {
            client: http_client::with(|builder| builder),
            endpoint,
        }
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
        request = request.header(METHOD, &*encoded(&it.method));
        if let Some(name) = &it.name {
            request = request.header(NAME, &*encoded(name));
        }
        request.send().await
    }

    /// Opens a stream of messages that answer no request.
    pub async fn listen(&self, of: &Membership) -> reqwest::Result<Response> {
        self.request(Method::GET, of).send().await
    }

    /// Gets a file of the gateway.
    pub async fn get(&self, url: Url) -> reqwest::Result<Response> {
        let mut request = self.client.get(url);
        if let Some(authorization) = &self.endpoint.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.send().await
    }

    /// Ends a session.
    pub async fn leave(&self, of: &Membership) -> reqwest::Result<Response> {
        self.request(Method::DELETE, of).send().await
    }

    fn request(&self, method: Method, of: &Membership) -> RequestBuilder {
        let mut request = self
            .client
            .request(method.clone(), self.endpoint.url.clone())
            .header(ACCEPT, ACCEPTED);
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
        let root = innermost(cause);
        let at = self.endpoint.url.origin().ascii_serialization();
        let message =
            format!("Cannot reach the gateway at {at}: {root}. Is `caphost serve` running there?");
        disconnected(id, message)
    }
}

/// The session, once the client has begun one.
#[derive(Default)]
pub struct Session {
    state: Mutex<State>,
    /// The lock while a lost session is begun again.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    membership: Membership,
    /// The client's `initialize`, for beginning the session again.
    hello: Option<(String, Id)>,
    /// The version that the client has last asked for. The gateway answers with this version, if it speaks
    /// it.
    asked: Option<&'static Version>,
}

impl Session {
    /// The session and the version that requests carry.
    pub fn membership(&self) -> Membership {
        self.state.lock().membership.clone()
    }

    /// The client sends `initialize` with these parameters. The client's next messages may come before the
    /// answer.
    pub fn begins(&self, params: Option<&str>) {
        let params = params.and_then(|params| serde_json::from_str(params).ok());
        let params: Value = params.unwrap_or_default();
        let asked = params["protocolVersion"].as_str().map(Version::for_session);
        self.state.lock().asked = asked;
    }

    /// Whether the client may send several messages as one array.
    pub fn has_batches(&self) -> bool {
        self.state.lock().asked.is_some_and(|it| it.batches)
    }

    /// `initialize` was answered, so the session has begun. `hello` is kept for beginning the session again.
    pub fn begun(&self, hello: (String, Id), session: Option<String>, answer: &str) {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let version = answer["result"]["protocolVersion"].as_str();
        let version = version.map(str::to_string);
        let mut state = self.state.lock();
        state.membership = Membership { session, version };
        state.hello = Some(hello);
    }

    /// The gateway does not know the session `lost` any more, for example after a restart. Begins another
    /// session with the client's `initialize`, unless that has happened meanwhile. Returns whether there is a
    /// session now.
    pub async fn renew(&self, lost: &Membership, link: &Link) -> bool {
        let _alone = self.renewing.lock().await;
        if self.membership().session != lost.session {
            return true;
        }
        let Some(hello) = self.state.lock().hello.clone() else {
            return false;
        };
        let Ok(response) = link.post(hello.0.clone(), &Membership::default()).await else {
            return false;
        };
        let session = session_of(&response);
        if !response.status().is_success() || session.is_none() {
            return false;
        }
        let mut incoming = messages(response);
        while let Some(message) = incoming.next().await {
            if answers(&message, &hello.1) {
                self.begun(hello, session, &message);
                let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
                let told = link.post(told.into(), &self.membership()).await;
                tracing::info!(told = told.is_ok(), "the gateway's session was begun again");
                return true;
            }
        }
        false
    }
}

/// The session that a response names.
pub fn session_of(response: &Response) -> Option<String> {
    let id = response.headers().get(SESSION)?;
    Some(id.to_str().ok()?.to_string())
}

/// The messages of a response, as they come. The stream ends with the response, or when the connection
/// breaks.
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
    let events = events.inspect_err(|error| tracing::debug!(%error, "a stream broke off"));
    let data = events.map_ok(|event| event.data.unwrap_or_default());
    // Reads until the stream breaks off.
    let data = data.scan((), |(), data| ready(data.ok()));
    data.filter(|data| ready(!data.is_empty())).boxed()
}

/// Turns an unsuccessful response into an answer to the request with that id.
pub async fn failure(response: Response, id: &Value) -> String {
    let status = response.status();
    let body = whole(response).await.unwrap_or_default();
    let said: Value = serde_json::from_str(&body).unwrap_or_default();
    if said["error"]["code"].is_i64() {
        let mut answer = said;
        answer["id"] = id.clone();
        return answer.to_string();
    }
    // The error is an ABP error, or comes from a server in between.
    let message = said["error"]["message"].as_str().map(str::to_string);
    let message = message.unwrap_or_else(|| format!("The gateway answers with status {status}"));
    let data = said.get("error").filter(|it| it.is_object()).cloned();
    let mut error = RpcError::new(code::FAILED, message);
    error.data = data;
    error.answer(id).to_string()
}

/// The answer to a request if the gateway is gone.
pub fn disconnected(id: &Value, message: impl Into<String>) -> String {
    let data = json!({ "code": "DISCONNECTED", "retryable": true });
    let error = RpcError::new(code::FAILED, message).with_data(data);
    error.answer(id).to_string()
}

/// Whether `text` answers the request with that id.
pub fn answers(text: &str, id: &Id) -> bool {
    matches!(read(text, MAX_DEPTH), Ok(Message::Response(Some(answered), _)) if answered == *id)
}

async fn whole(response: Response) -> Option<String> {
    let body = whole_body(response, MESSAGE_BYTES).await.ok()??;
    String::from_utf8(body).ok()
}

#[cfg(test)]
mod tests;
