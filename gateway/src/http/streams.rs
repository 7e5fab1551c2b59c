//! Streams of events, which end with the gateway.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::response::Response;
use futures_util::StreamExt;
use tokio::time::sleep;

use crate::gateway::lifecycle::{Lifecycle, Phase};

/// How long writing the last events may take after the gateway has begun to stop.
const LAST_EVENTS: Duration = Duration::from_millis(300);

/// Ends a `text/event-stream` when the gateway stops, after the events that tell so. Any other
/// response ends by itself.
pub(crate) fn end(lifecycle: &Lifecycle, response: Response) -> Response {
    // One whose length is known is there as a whole.
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
