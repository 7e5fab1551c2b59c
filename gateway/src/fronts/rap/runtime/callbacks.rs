//! `POST /rap/callback/<secret>/<call>`, where tool servers deliver results and events.
//!
//! A callback carries no credentials: anybody who knows the URL may use it. So each tool server has
//! one of its own, which nobody can guess and no other tool server is told. Its last segment names
//! the call, so that a result too large to be read can still end the call it belongs to.

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
    metrics: Arc<Metrics>,
}

/// What waits to be dealt with, and its share of the bytes of all that does.
pub(super) type Delivered = (Input, Option<OwnedSemaphorePermit>);

impl CallbackEndpoint {
    /// An endpoint with a secret of its own, on a gateway that is reached at `public`.
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

    /// Waits for room for a body of at most this many bytes.
    async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = bytes.min(self.max_body).try_into().ok()?;
        self.room.clone().acquire_many_owned(bytes).await.ok()
    }

    /// The URL for the callbacks of a call.
    pub fn url(&self, call: &Identifier) -> Result<Url, url::ParseError> {
        Url::parse(&format!("{}/{call}", self.base))
    }

    /// A callback is refused. If it was the result of that call, the call ends with `error`: the result will
    /// not be sent again.
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

/// Answers 200 to whatever can be read, also to what nobody waits for: a tool server cannot know,
/// and is not to try again.
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
    // A body that says nothing of its size may have any.
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
        // It may come again.
        Err(unread) => return Refusal::from(unread).into_response(),
    };
    let body = mended_bytes(&body);
    let input = match serde_json::from_slice(&body) {
        Ok(Callback::ToolResult(result)) => of_result(result),
        Ok(Callback::SubscriptionEvent(event)) => Input::Event(event),
        Err(error) => {
            // It may quote all of what was sent.
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
    // A gateway that stops has nobody left to tell.
    match endpoint.inbox.send((input, room)).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Whether what cannot be read says that it is the result of that call.
fn is_result_of(call: &str, body: &[u8]) -> bool {
    let named = serde_json::from_slice::<Named>(body);
    named.is_ok_and(|it| it.kind == "tool_result" && it.id == call)
}

/// What every result says of itself, whatever else is in it.
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
