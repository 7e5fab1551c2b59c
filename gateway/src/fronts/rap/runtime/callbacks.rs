//! `POST /rap/callback/<secret>/<call>`, where tool servers deliver results and events.
//!
//! A callback carries no credentials: anybody who knows the URL may use it. So each tool server has
//! one of its own, which nobody can guess and no other tool server is told. Its last segment names
//! the call, so that a result too large to be read can still end the call it belongs to.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use url::Url;
use uuid::Uuid;

use super::delivery::Undelivered;
use super::result::{Outcome, outcome};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{Callback, SubscriptionEvent, ToolResult};
use crate::gateway::Hub;
use crate::wire::{clipped, mended_bytes};
use caphost::call::{Code, Error};

/// Where callbacks come in; a secret follows.
pub const CALLBACK_PATH: &str = "/rap/callback";

/// Bodies of the largest size that one tool server may have read, or waiting, at once: what it sends
/// beyond that is read when there is room.
const BODIES: usize = 4;
/// Characters that are told of what is wrong with a callback.
const SHOWN_CHARS: usize = 300;

/// What comes from a tool server, or from the delivery to it.
pub(super) enum Input {
    /// A result.
    Result {
        thread: Identifier,
        id: Identifier,
        subscription: bool,
        outcome: Outcome,
    },
    /// A callback for a call that could not be read.
    Unreadable { id: Identifier, error: Error<Value> },
    /// An event of a subscription.
    Event(SubscriptionEvent),
    /// An invocation was not acknowledged.
    Undelivered {
        id: Identifier,
        undelivered: Undelivered,
    },
}

/// Where one tool server posts its callbacks.
pub(super) struct CallbackEndpoint {
    secret: String,
    /// Its URL, without the segment that names the call.
    base: String,
    /// What waits to be dealt with.
    pub inbox: mpsc::Sender<Delivered>,
    /// The bytes of the bodies that may be read, or wait, at once.
    room: Arc<Semaphore>,
    max_body: usize,
}

/// What waits to be dealt with, and its share of the bytes of all that does.
pub(super) struct Delivered {
    pub input: Input,
    _room: Option<OwnedSemaphorePermit>,
}

impl From<Input> for Delivered {
    fn from(input: Input) -> Self {
        Delivered { input, _room: None }
    }
}

impl CallbackEndpoint {
    /// An endpoint with a secret of its own, on a gateway that is reached at `public`.
    /// Bodies may have `max_body` bytes.
    pub fn new(public: &str, inbox: mpsc::Sender<Delivered>, max_body: usize) -> Self {
        let secret = Uuid::new_v4().simple().to_string();
        let base = format!("{}{CALLBACK_PATH}/{secret}", public.trim_end_matches('/'));
        CallbackEndpoint {
            secret,
            base,
            inbox,
            room: Arc::new(Semaphore::new(BODIES * max_body)),
            max_body,
        }
    }

    /// Waits for room for a body of at most this many bytes.
    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(self.max_body).try_into().ok()?;
        self.room.clone().acquire_many_owned(bytes).await.ok()
    }

    /// The URL for the callbacks of a call.
    pub fn url(&self, call: &Identifier) -> Result<Url, url::ParseError> {
        Url::parse(&format!("{}/{call}", self.base))
    }

    /// A callback for that call cannot be read.
    async fn unreadable(&self, call: &str, code: Code, message: String) {
        let error = Error::new(code, message);
        if let Ok(id) = Identifier::new(call) {
            let input = Input::Unreadable { id, error };
            let _ = self.inbox.send(input.into()).await;
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
    let max = endpoint.max_body;
    // A body that says nothing of its size may have any.
    let announced = request.body().size_hint().upper();
    let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
    let room = endpoint.room(announced.unwrap_or(max)).await;
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
                let message = format!("The tool's result cannot be read: {}", shown(&error));
                endpoint
                    .unreadable(&call, Code::TRANSPORT_ERROR, message)
                    .await;
            }
            let message = format!("not a callback: {}", shown(&error));
            return (StatusCode::BAD_REQUEST, message).into_response();
        }
    };
    // A gateway that stops has nobody left to tell.
    let delivered = Delivered { input, _room: room };
    match endpoint.inbox.send(delivered).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// An error without more than a little of what was sent: it may quote all of it.
fn shown(error: &serde_json::Error) -> String {
    clipped(&error.to_string(), SHOWN_CHARS).into()
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
        subscription: result.subscription.unwrap_or_default(),
        outcome: outcome(result),
    }
}
