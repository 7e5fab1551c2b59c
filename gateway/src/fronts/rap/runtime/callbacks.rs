//! `POST /rap/callback/<secret>/<call>`, where tool servers deliver results and events.
//!
//! A callback carries no credentials, so anybody who knows the URL may use it. Therefore each tool server has
//! its own URL, which nobody can guess and no other tool server knows. The last segment of the URL names the
//! call. So even a result that is too large to read can end its call.

use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use url::Url;
use uuid::Uuid;

use super::delivery::Undelivered;
use super::result::{Outcome, outcome};
use crate::fronts::body::{self, Unread};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{Callback, SubscriptionEvent, ToolResult};
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::gateway::metrics::Metrics;
use crate::wire::{clipped, mended_bytes};
use caphost::call::{Code, Error};

/// The path of callbacks. A secret follows.
pub const CALLBACK_PATH: &str = "/rap/callback";

/// How many bodies of the largest size one tool server may have in progress at once. Further bodies are read
/// when there is room.
const BODIES: usize = 4;
/// How many characters of an error in a callback are shown.
const SHOWN_CHARS: usize = 300;

/// An input from a tool server, or from the delivery to it.
pub(super) enum Input {
    /// A result.
    Result {
        thread: Identifier,
        id: Identifier,
        subscription: bool,
        outcome: Outcome,
    },
    /// A callback for a call, which could not be read.
    Unreadable { id: Identifier, error: Error<Value> },
    /// An event of a subscription.
    Event(SubscriptionEvent),
    /// The time of a call is over.
    TimedOut { id: Identifier },
    /// An invocation was not acknowledged.
    Undelivered {
        id: Identifier,
        undelivered: Undelivered,
    },
}

/// The URL where one tool server posts its callbacks.
pub(super) struct CallbackEndpoint {
    secret: String,
    /// The URL without the segment that names the call.
    base: String,
    /// The inputs that wait to be handled.
    pub inbox: mpsc::Sender<Delivered>,
    /// How many bytes of bodies may be in progress at once.
    room: Arc<Semaphore>,
    max_body: usize,
    metrics: Arc<Metrics>,
}

/// An input that waits to be handled, and its share of the bytes in progress.
pub(super) type Delivered = (Input, Option<OwnedSemaphorePermit>);

impl CallbackEndpoint {
    /// An endpoint with its own secret, on a gateway whose public URL is `public`.
    pub fn new(public: &str, inbox: mpsc::Sender<Delivered>, hub: &Hub) -> Self {
        let max_body = hub.limits.message_bytes;
        let secret = Uuid::new_v4().simple().to_string();
        let base = format!("{}{CALLBACK_PATH}/{secret}", public.trim_end_matches('/'));
        CallbackEndpoint {
            secret,
            base,
            inbox,
            room: Arc::new(Semaphore::new(BODIES * max_body)),
            max_body,
            metrics: hub.metrics.clone(),
        }
    }

    /// Waits for room for a body of at most `bytes` bytes.
    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(self.max_body).try_into().ok()?;
        self.room.clone().acquire_many_owned(bytes).await.ok()
    }

    /// The URL for the callbacks of a call.
    pub fn url(&self, call: &Identifier) -> Result<Url, url::ParseError> {
        Url::parse(&format!("{}/{call}", self.base))
    }

    /// A callback is refused. If it was the result of that call, the call ends with `error`, because the
    /// result will not be sent again.
    async fn refused(&self, call: &str, error: Option<Error<Value>>) {
        self.metrics.tool_servers.callbacks_refused.add();
        if let (Ok(id), Some(error)) = (Identifier::new(call), error) {
            let input = Input::Unreadable { id, error };
            let _ = self.inbox.send((input, None)).await;
        }
    }
}

/// The endpoints of all tool servers.
type Endpoints = Arc<[Arc<CallbackEndpoint>]>;

/// The route for the callbacks of all tool servers.
pub(super) fn routes(endpoints: Endpoints) -> Router {
    let path = format!("{CALLBACK_PATH}/{{secret}}/{{call}}");
    Router::new()
        .route(&path, post(receive))
        .with_state(endpoints)
}

/// Answers 200 to every readable callback, even if nobody waits for it: a tool server cannot know this, and
/// must not retry.
async fn receive(
    State(endpoints): State<Endpoints>,
    Path((secret, call)): Path<(String, String)>,
    request: Request,
) -> Response {
    let mut endpoints = endpoints.iter();
    let is_meant = |it: &&Arc<CallbackEndpoint>| {
        let same = it.secret.as_bytes().ct_eq(secret.as_bytes());
        same.into()
    };
    let Some(endpoint) = endpoints.find(is_meant) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let max = endpoint.max_body;
    // A body that does not declare its size may have any size.
    let announced = request.body().size_hint().upper();
    let announced = announced.and_then(|bytes| usize::try_from(bytes).ok());
    let room = endpoint.room(announced.unwrap_or(max)).await;
    let (parts, body) = request.into_parts();
    let body = match body::read(&parts.extensions, body, max).await {
        Ok(body) => body,
        Err(Unread::TooLarge(_)) => {
            let message = format!("The tool's result has more than {max} bytes");
            let error = Error::new(Code::OPERATION_FAILED, message.clone());
            endpoint.refused(&call, Some(error)).await;
            let close = [(CONNECTION, "close")];
            return (StatusCode::PAYLOAD_TOO_LARGE, close, message).into_response();
        }
        // The tool server may send it again.
        Err(unread) => return Refusal::from(unread).into_response(),
    };
    let body = mended_bytes(&body);
    let input = match serde_json::from_slice(&body) {
        Ok(Callback::ToolResult(result)) => of_result(result),
        Ok(Callback::SubscriptionEvent(event)) => Input::Event(event),
        Err(error) => {
            // The error may quote the whole body.
            let why = clipped(&error.to_string(), SHOWN_CHARS).to_string();
            let error = is_result_of(&call, &body).then(|| {
                let message = format!("The tool's result cannot be read: {why}");
                Error::new(Code::TRANSPORT_ERROR, message)
            });
            endpoint.refused(&call, error).await;
            let message = format!("not a callback: {why}");
            return (StatusCode::BAD_REQUEST, message).into_response();
        }
    };
    // When the gateway stops, nobody is left to tell.
    match endpoint.inbox.send((input, room)).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Whether an unreadable body says that it is the result of that call.
fn is_result_of(call: &str, body: &[u8]) -> bool {
    let named = serde_json::from_slice::<Named>(body);
    named.is_ok_and(|it| it.kind == "tool_result" && it.id == call)
}

/// The members that every result has, whatever else it contains.
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
