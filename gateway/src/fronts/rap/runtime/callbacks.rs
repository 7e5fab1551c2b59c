//! `POST /rap/callback/<secret>/<call>`, where tool servers deliver results and events.
//!
//! A callback carries no credentials: whoever knows the URL may use it. So each tool server has
//! one of its own, which nobody can guess and no other tool server is told. Its last segment names
//! the call, so that a result too large to be read can still end the call it belongs to.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt;
use serde::Deserialize;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;
use url::Url;
use uuid::Uuid;

use super::app::Input;
use super::result::outcome;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{Callback, ToolResult};
use crate::gateway::Hub;
use crate::wire::mended_bytes;
use caphost::call::{Code, Error};

/// Where callbacks come in; a secret follows.
pub const CALLBACK_PATH: &str = "/rap/callback";

/// Where one tool server posts its callbacks.
pub(super) struct CallbackEndpoint {
    secret: String,
    /// Its URL, without the segment that names the call.
    base: String,
    /// What waits to be dealt with.
    pub inbox: mpsc::Sender<Input>,
}

impl CallbackEndpoint {
    /// An endpoint with a secret of its own, on a gateway that is reached at `public`.
    pub fn new(public: &str, inbox: mpsc::Sender<Input>) -> Self {
        let secret = Uuid::new_v4().simple().to_string();
        let base = format!("{}{CALLBACK_PATH}/{secret}", public.trim_end_matches('/'));
        CallbackEndpoint {
            secret,
            base,
            inbox,
        }
    }

    /// The URL for the callbacks of a call.
    pub fn url(&self, call: &Identifier) -> Result<Url, url::ParseError> {
        Url::parse(&format!("{}/{call}", self.base))
    }

    /// A callback for that call cannot be read.
    async fn unreadable(&self, call: &str, code: Code, message: String) {
        let error = Error::new(code, message);
        if let Ok(id) = Identifier::new(call) {
            let _ = self.inbox.send(Input::Unreadable { id, error }).await;
        }
    }
}

/// What the route knows.
struct Endpoints {
    endpoints: Vec<Arc<CallbackEndpoint>>,
    hub: Arc<Hub>,
}

impl Endpoints {
    fn find(&self, secret: &str) -> Option<&CallbackEndpoint> {
        let is_it =
            |it: &&Arc<CallbackEndpoint>| it.secret.as_bytes().ct_eq(secret.as_bytes()).into();
        self.endpoints.iter().find(is_it).map(|it| &**it)
    }
}

/// The route for the callbacks of all tool servers.
pub(super) fn routes(endpoints: Vec<Arc<CallbackEndpoint>>, hub: Arc<Hub>) -> Router {
    let path = format!("{CALLBACK_PATH}/{{secret}}/{{call}}");
    Router::new()
        .route(&path, post(receive))
        .with_state(Arc::new(Endpoints { endpoints, hub }))
}

/// Answers 200 to whatever can be read, also to what nobody waits for: a tool server cannot know,
/// and is not to try again.
async fn receive(
    State(endpoints): State<Arc<Endpoints>>,
    Path((secret, call)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Some(endpoint) = endpoints.find(&secret) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let counters = &endpoints.hub.metrics.tool_servers;
    let max = endpoints.hub.limits.message_bytes;
    let body = match read(request.into_body(), max).await {
        Ok(body) => body,
        Err(Unread::BrokenOff) => return StatusCode::BAD_REQUEST.into_response(),
        Err(Unread::TooLarge) => {
            counters.callbacks_refused.add();
            let message = format!("The tool's result has more than {max} bytes");
            endpoint
                .unreadable(&call, Code::OPERATION_FAILED, message.clone())
                .await;
            return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
    };
    let input = match serde_json::from_slice(&mended_bytes(&body)) {
        Ok(Callback::ToolResult(result)) => of_result(result),
        Ok(Callback::SubscriptionEvent(event)) => Input::Event(event),
        Err(error) => {
            counters.callbacks_refused.add();
            if is_result_of(&call, &body) {
                // It will not be sent again: the call would wait for ever.
                let message = format!("The tool's result cannot be read: {error}");
                endpoint
                    .unreadable(&call, Code::TRANSPORT_ERROR, message)
                    .await;
            }
            return (StatusCode::BAD_REQUEST, format!("not a callback: {error}")).into_response();
        }
    };
    // A gateway that stops has nobody left to tell.
    match endpoint.inbox.send(input).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

enum Unread {
    TooLarge,
    BrokenOff,
}

async fn read(body: Body, max: usize) -> Result<Vec<u8>, Unread> {
    let mut chunks = body.into_data_stream();
    let mut read = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Unread::BrokenOff)?;
        if read.len() + chunk.len() > max {
            return Err(Unread::TooLarge);
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

/// Whether what cannot be read says that it is the result of that call.
fn is_result_of(call: &str, body: &[u8]) -> bool {
    let named = serde_json::from_slice::<Named>(&mended_bytes(body));
    named.is_ok_and(|it| it.kind == "tool_result" && it.id == call)
}

/// What every result says of itself.
#[derive(Deserialize)]
struct Named {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

fn of_result(result: ToolResult) -> Input {
    Input::Result {
        thread: result.group_id.clone(),
        id: result.id.clone(),
        subscription: result.subscription,
        outcome: outcome(result),
    }
}
