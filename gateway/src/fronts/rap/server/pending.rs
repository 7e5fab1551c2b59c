//! An invocation that was taken, until its result is delivered.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::callback_url::origin;
use super::claims::Claim;
use super::result::Body;
use super::threads::Thread;
use super::{RapServer, take};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::{Callback, Invocation, ToolResult};
use crate::gateway::Connected;
use crate::gateway::calls::{AbpError, Call, Outcome};

/// Timers of an app may be a little early.
const EARLY_MILLIS: u128 = 20;

/// An invocation's share of the common limits, until its result is delivered.
pub(super) struct Room {
    /// Its place among the pending invocations.
    pub _place: OwnedSemaphorePermit,
    /// Its bytes.
    pub _bytes: OwnedSemaphorePermit,
}

/// A pending invocation. It ends in exactly one result, which is delivered, or lost for a reason
/// that is logged.
pub(super) struct Pending {
    server: Arc<RapServer>,
    group_id: Identifier,
    id: Identifier,
    call_id: Option<String>,
    callback_url: Url,
    since: Instant,
    _room: Room,
    /// A gateway that stops waits until the result was sent once.
    connected: Connected,
}

impl Pending {
    pub(super) fn new(server: Arc<RapServer>, invocation: &Invocation, room: Room) -> Self {
        Pending {
            connected: server.hub.connected(),
            server,
            group_id: invocation.group_id.clone(),
            id: invocation.id.clone(),
            call_id: invocation.call_id.clone(),
            callback_url: invocation.callback_url.clone(),
            since: Instant::now(),
            _room: room,
        }
    }

    /// Waits for the end of the call, and delivers its result.
    pub(super) async fn see_through(self, thread: Arc<Thread>, call: Call, claim: Claim) {
        let outcome = call.outcome().await;
        thread.ended(&self.id);
        // The runtime may use the id again as soon as it has the result.
        self.server.claims.release(claim).await;
        let body = Body::of(self.explained(outcome));
        self.deliver(body, &thread.closed).await;
    }

    /// Delivers an error in place of a result: the invocation did not become a call.
    pub(super) async fn fail(self, error: AbpError) {
        let body = Body::of(Outcome::Failed(error));
        self.deliver(body, &CancellationToken::new()).await;
    }

    /// Gives a cancelled call its reason if its time was up: the outcome has none.
    fn explained(&self, outcome: Outcome) -> Outcome {
        let timeout = self.server.options.call_timeout;
        let late = self.since.elapsed().as_millis() + EARLY_MILLIS >= timeout.as_millis();
        match outcome {
            Outcome::Cancelled {
                reason: None,
                by_caller: false,
                stop,
            } if late => Outcome::Cancelled {
                reason: Some(format!("it did not end within {timeout:?}")),
                by_caller: false,
                stop,
            },
            other => other,
        }
    }

    async fn deliver(self, body: Body, unwanted: &CancellationToken) {
        let (message, _bytes) = self.message(body);
        let Pending {
            server,
            group_id,
            id,
            callback_url,
            connected,
            _room,
            ..
        } = self;
        let sending = server
            .delivery
            .send(&callback_url, message, connected, unwanted);
        match sending.await {
            Ok(()) => tracing::debug!(?group_id, ?id, "result delivered"),
            Err(why) => {
                let to = origin(&callback_url);
                tracing::warn!(?group_id, ?id, to, why, "result not delivered");
            }
        }
    }

    /// The callback as JSON, and its share of the bytes that may wait. A result that is too large is
    /// replaced by an error.
    fn message(&self, body: Body) -> (Bytes, Option<OwnedSemaphorePermit>) {
        let max = self.server.options.max_result_bytes;
        let bytes = body.bytes();
        if bytes > max {
            let message =
                format!("The result has {bytes} bytes, more than the {max} that can be delivered");
            return (self.callback(Body::error(&message)), None);
        }
        let json = self.callback(body);
        match take(&self.server.pending_bytes, json.len()) {
            Some(bytes) => (json, Some(bytes)),
            None => {
                let message = "The result was lost: too many others wait to be delivered";
                (self.callback(Body::error(message)), None)
            }
        }
    }

    fn callback(&self, body: Body) -> Bytes {
        let (text, content) = match body {
            Body::Text(text) => (Some(text), None),
            Body::Content(items) => (None, Some(items)),
        };
        let callback = Callback::ToolResult(ToolResult {
            group_id: self.group_id.clone(),
            id: self.id.clone(),
            call_id: self.call_id.clone(),
            text,
            content,
            subscription: false,
        });
        // Strings and lists of strings can always be written.
        serde_json::to_vec(&callback).unwrap_or_default().into()
    }
}
