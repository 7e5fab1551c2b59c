//! Answers that are being sent. Their unsent bytes are counted, and the party with most makes room. Streams
//! of events end with the gateway.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::bounds::{Account, FREE_BYTES, Ledgers, NoRoom, QuotaKey};
use crate::fronts::refusal::Refusal;
use crate::gateway::lifecycle::{Lifecycle, Phase};

/// How many bytes of a large answer go to the connection at once.
const SLICE: usize = 16 << 10;
/// How long writing the last events may take after the gateway has begun to stop.
const LAST_EVENTS: Duration = Duration::from_millis(300);

/// Counts the bytes of an answer to that party until they are sent, unless they are few. `let_go` is notified
/// when the connection has to make room.
pub(crate) fn count_unsent(
    ledgers: &Ledgers,
    quota_key: QuotaKey,
    let_go: Arc<Notify>,
    response: Response,
) -> Response {
    let size = response.body().size_hint().exact();
    if size.is_some_and(|it| it <= FREE_BYTES as u64) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let mut answer = Answer {
        body: body.into_data_stream(),
        account: ledgers.open(quota_key, let_go),
        is_counted: false,
        rest: Bytes::new(),
    };
    if let Some(size) = size {
        // An answer that is complete can still be refused.
        if let Some(Some(Ok(data))) = answer.body.next().now_or_never()
            && !answer.keep(data)
        {
            return Refusal::busy(NoRoom.to_string()).into_response();
        }
        head.headers.entry(CONTENT_LENGTH).or_insert(size.into());
    }
    let slices = stream::unfold(answer, async |mut answer| {
        let slice = answer.slice().await?;
        Some((slice, answer))
    });
    Response::from_parts(head, Body::from_stream(slices))
}

/// An answer that is sent in slices while its rest is counted.
struct Answer {
    body: BodyDataStream,
    account: Account,
    /// Whether there is anything on the account.
    is_counted: bool,
    /// The rest of the last chunk of the body.
    rest: Bytes,
}

impl Answer {
    async fn slice(&mut self) -> Option<Result<Bytes, axum::Error>> {
        if self.rest.is_empty() {
            if self.is_counted {
                // The last slices were copied, so their source is not kept.
                self.account.set(0);
            }
            match self.body.next().await? {
                Ok(data) => {
                    if !self.keep(data) {
                        return Some(Err(axum::Error::new(NoRoom)));
                    }
                }
                error => return Some(error),
            }
        }
        if !self.is_counted {
            return Some(Ok(std::mem::take(&mut self.rest)));
        }
        let slice = self.rest.split_to(SLICE.min(self.rest.len()));
        // A connection keeps the last slice, which must not keep the whole chunk.
        Some(Ok(match self.rest.len() < FREE_BYTES {
            true => Bytes::copy_from_slice(&slice),
            false => slice,
        }))
    }

    /// Keeps a chunk until it is sent. Returns whether there is room for it.
    fn keep(&mut self, data: Bytes) -> bool {
        self.is_counted = data.len() > FREE_BYTES;
        let has_room = !self.is_counted || self.account.set(data.len());
        self.rest = data;
        has_room
    }
}

/// Ends a `text/event-stream` when the gateway stops, after the events that tell so. Other responses end by
/// themselves.
pub(crate) fn end_stream_with_gateway(lifecycle: &Lifecycle, response: Response) -> Response {
    // A response of known length is complete.
    let is_whole = response.body().size_hint().exact().is_some();
    if is_whole || !is_event_stream(response.headers()) {
        return response;
    }
    let stopping = lifecycle.reached(Phase::Stopping);
    let over = Box::pin(async move {
        stopping.await;
        sleep(LAST_EVENTS).await;
    });
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(over)))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes());
    kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"))
}
