//! An invocation until its result is delivered or lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::calls::Name;
use super::claims::Claim;
use super::result::Body;
use super::state::RapServer;
use crate::bounds::{Permit, QuotaKey};
use crate::fronts::rap::wire::{Callback, Invocation, ToolResult};
use crate::fronts::rpc::Request;
use crate::fronts::shared_sessions::InUse;
use crate::gateway::calls::Call;
use crate::gateway::{Connected, Outcome};
use crate::seldom::SeldomOf;
use crate::tokens::Identity;

/// An app's timers may fire a little early.
const EARLY: Duration = Duration::from_millis(20);

/// The shares of an invocation, until its result is delivered: its place and its bytes.
pub(super) type Room = [Permit; 2];

/// An accepted invocation. It ends in exactly one result. The result is delivered, or is lost and the log
/// says why.
pub(super) struct Pending {
    server: Arc<RapServer>,
    pub owner: Identity,
    /// The invocation. Its arguments move to the call once there is a call.
    pub invocation: Invocation,
    since: Instant,
    _room: Room,
    /// A gateway that stops waits until the result was sent once.
    connected: Connected,
}

impl Pending {
    /// An invocation that was just accepted.
    pub fn new(
        server: Arc<RapServer>,
        owner: Identity,
        invocation: Invocation,
        room: Room,
    ) -> Self {
        Pending {
            connected: server.hub.connected(),
            server,
            owner,
            invocation,
            since: Instant::now(),
            _room: room,
        }
    }

    /// Waits for the end of the call and delivers its result.
    pub async fn see_through(
        self,
        call: Call,
        session: InUse,
        mut request: Request<Name>,
        claim: Option<Claim>,
    ) {
        let run = call.id;
        let outcome = call.outcome().await;
        drop(session);
        // The runtime may use the id again as soon as it has the result.
        if let Some(claim) = claim {
            self.server.release_claim(claim).await;
        }
        request.rename(Name {
            ended: Some(run),
            ..request.id.clone()
        });
        let body = Body::of(self.explained(outcome));
        self.deliver(body, &request.over).await;
    }

    /// Adds the reason to a call that was cancelled by its timeout, because the outcome has no reason.
    fn explained(&self, mut outcome: Outcome) -> Outcome {
        let timeout = self.server.options.call_timeout;
        if let Outcome::Cancelled {
            reason: reason @ None,
            ..
        } = &mut outcome
            && self.since.elapsed() + EARLY >= timeout
        {
            *reason = Some(format!("it did not end within {timeout:?}"));
        }
        outcome
    }

    /// Sends the result to the callback URL, but not again once it is `unwanted`.
    pub async fn deliver(self, body: Body, unwanted: &CancellationToken) {
        let (message, _bytes) = self.message(body);
        let Invocation {
            group_id,
            id,
            callback_url: url,
            ..
        } = &self.invocation;
        let server = &self.server;
        let sending = server.send_result(&self.owner, url, message, self.connected, unwanted);
        match sending.await {
            Ok(()) => tracing::debug!(?group_id, ?id, "result delivered"),
            Err(why) => {
                // The rest of the URL may be a secret.
                let to = url.origin().ascii_serialization();
                static LOST: SeldomOf = SeldomOf::new();
                match LOST.is_due(&self.owner.name) {
                    Some(passed_over) => {
                        let owner = &*self.owner.name;
                        tracing::warn!(
                            ?group_id,
                            ?id,
                            to,
                            why,
                            owner,
                            passed_over,
                            "result not delivered"
                        );
                    }
                    None => tracing::debug!(?group_id, ?id, to, why, "result not delivered"),
                }
            }
        }
    }

    /// The callback as JSON, and its share of the bytes that may wait. An error replaces a result that is too
    /// large.
    fn message(&self, body: Body) -> (Bytes, Option<Permit>) {
        let max = self.server.options.max_result_bytes;
        let bytes = body.bytes();
        if bytes > max {
            let message =
                format!("The result has {bytes} bytes, more than the {max} that can be delivered");
            return (self.callback(Body::error(&message)), None);
        }
        let json = self.callback(body);
        let quota_key = QuotaKey::Token(self.owner.name.clone());
        match self.server.pending_bytes.take(&quota_key, json.len()) {
            Ok(bytes) => (json, Some(bytes)),
            Err(_) => {
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
        let Invocation {
            group_id,
            id,
            call_id,
            ..
        } = &self.invocation;
        let callback = Callback::ToolResult(ToolResult {
            group_id: group_id.clone(),
            id: id.clone(),
            call_id: call_id.clone(),
            text,
            content,
            subscription: None,
        });
        // Serialising strings and lists of strings cannot fail.
        serde_json::to_vec(&callback).unwrap_or_default().into()
    }
}
