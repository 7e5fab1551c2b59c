//! How an answer is sent: as one message, or as a stream of messages.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt, stream};
use tokio::time::timeout;

use super::head::{Accepted, EVENTS, JSON};
use crate::bounds::Permit;
use crate::wire::one_line;

/// Time between two comments in a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What an event's line begins with.
const FIELD: &str = "data: ";
/// Asks a proxy to pass on each event as it comes.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A response of one message, or of none. The response is JSON if the client accepts JSON: some clients read
/// no event of more than a megabyte.
pub fn whole(message: Option<&str>, accepted: Accepted) -> Response {
    match message {
        Some(message) if accepted.json => {
            let message = one_line(message).into_owned();
            respond(JSON, Body::from(message))
        }
        Some(message) => respond(EVENTS, Body::from(event(message))),
        None if accepted.events => respond(EVENTS, Body::empty()),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// A response with the message `first` and then `messages`. Dropping the response drops the messages, and
/// gives back its share of the open responses.
pub fn events(
    first: Option<String>,
    messages: impl Stream<Item = String> + Send + Unpin + 'static,
    share: Permit,
) -> Response {
    let messages = stream::iter(first).chain(messages);
    let events = stream::unfold((messages, share), |(mut messages, share)| async move {
        let event = match timeout(KEEP_ALIVE, messages.next()).await {
            Ok(message) => event(&message?),
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((Ok::<_, Infallible>(event), (messages, share)))
    });
    respond(EVENTS, Body::from_stream(events))
}

/// A response of the one message that will come, as JSON. Until then white space, which JSON may begin with, shows
/// that the gateway is there. Dropping the response drops the message, and gives back its share of the open
/// responses.
pub fn awaited(message: BoxFuture<'static, String>, share: Permit) -> Response {
    let pieces = stream::unfold(Some((message, share)), |state| async {
        let (mut message, share) = state?;
        Some(match timeout(KEEP_ALIVE, &mut message).await {
            Ok(message) => (
                Ok::<_, Infallible>(one_line(&message).into_owned().into()),
                None,
            ),
            Err(_) => (Ok(Bytes::from_static(b" ")), Some((message, share))),
        })
    });
    respond(JSON, Body::from_stream(pieces))
}

/// The response to a batch, made of the responses to its messages. Each of these has the type that was asked
/// for, or is a refusal, which is JSON.
pub async fn together(responses: Vec<Response>, accepted: Accepted) -> Response {
    let mut texts = Vec::new();
    let mut streams = Vec::new();
    for response in responses {
        let kind = response.headers().get(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|it| it == EVENTS);
        let body = response.into_body();
        if is_stream {
            streams.push(body.into_data_stream().boxed());
        } else if let Ok(text) = to_bytes(body, usize::MAX).await
            && !text.is_empty()
        {
            texts.push(text);
        }
    }
    if texts.is_empty() && streams.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    if !accepted.events {
        let items = texts.join(&b',');
        return respond(JSON, Body::from([&b"["[..], &items, b"]"].concat()));
    }
    let said = texts
        .iter()
        .map(|text| event(&String::from_utf8_lossy(text)));
    let said: Vec<_> = said.map(Ok).collect();
    let events = stream::iter(said).chain(stream::select_all(streams));
    respond(EVENTS, Body::from_stream(events))
}

fn respond(kind: &'static str, body: Body) -> Response {
    let head = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (UNBUFFERED, "no"),
    ];
    (StatusCode::OK, head, body).into_response()
}

/// How many bytes the event of a message has.
pub fn event_bytes(message: &str) -> usize {
    FIELD.len() + one_line(message).len()
}

/// Events have no ids, because nothing is kept for a client that comes back. Messages have no line breaks.
fn event(message: &str) -> Bytes {
    [FIELD, &one_line(message), "\n\n"].concat().into()
}
