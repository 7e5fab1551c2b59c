//! The bytes of requests and answers in memory: bodies that have come, and the unsent rest of
//! answers. The party with most of them makes room.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::fronts::ledger::{Account, FREE, Ledgers, NoRoom, Party};
use crate::fronts::refusal::Refusal;
use crate::http::received::{Gathered, Received};

/// Bytes of a large answer that are handed to the connection at once.
const SLICE: usize = 16 << 10;

/// When to try again.
const RETRY: Duration = Duration::from_secs(1);

/// What all requests share.
pub(crate) struct Budget {
    /// Bodies, with the unfinished messages of sockets.
    pub received: Arc<Ledgers>,
    /// Answers.
    pub unsent: Arc<Ledgers>,
}

/// Told when the connection that a request has come on is to be closed: one of the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct LetGo(pub Arc<Notify>);

impl Budget {
    /// Counts the bytes of a request and its answer, of the party that is one of its extensions.
    pub async fn count(&self, request: Request, next: Next) -> Response {
        let extensions = request.extensions();
        let party = extensions.get::<Party>().cloned();
        let let_go = extensions.get::<LetGo>().cloned();
        let (Some(party), Some(LetGo(let_go))) = (party, let_go) else {
            return next.run(request).await;
        };
        // Counted until there is an answer: whatever was made of it is as large.
        let mut incoming = None;
        let request = match request.body().is_end_stream() {
            true => request,
            false => request.map(|body| {
                let received = Received::new(self.received.clone(), party.clone());
                Body::new(Gathered::new(body, incoming.insert(received).clone()))
            }),
        };
        let mut response = next.run(request).await;
        if incoming.is_some_and(|it| it.is_refused()) {
            // Replaces what was made of a body that broke off, unless the front has answered 503 itself.
            if response.status() != StatusCode::SERVICE_UNAVAILABLE {
                response = no_room();
            }
            // What still comes is no request.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
            return response;
        }
        let size = response.body().size_hint().exact();
        if size.is_some_and(|it| it <= FREE as u64) {
            return response;
        }
        let (head, body) = response.into_parts();
        let account = self.unsent.open(party, let_go);
        let mut answer = Answer {
            body,
            account,
            is_counted: false,
            rest: Bytes::new(),
        };
        // One that is there as a whole can still be refused.
        if answer.body.size_hint().exact().is_some() {
            let first = poll_fn(|context| Pin::new(&mut answer.body).poll_frame(context));
            if let Some(Some(Ok(frame))) = first.now_or_never()
                && let Ok(data) = frame.into_data()
                && !answer.keep(data)
            {
                return no_room();
            }
        }
        Response::from_parts(head, Body::new(answer))
    }
}

fn no_room() -> Response {
    let message = NoRoom.to_string();
    Refusal::later(StatusCode::SERVICE_UNAVAILABLE, message, RETRY).into_response()
}

/// Hands out an answer in slices and counts the rest.
struct Answer {
    body: Body,
    account: Account,
    /// Whether there is anything on the account.
    is_counted: bool,
    /// The rest of what came last from the body.
    rest: Bytes,
}

impl Answer {
    /// Keeps what has come, to be sent. Whether there is room for it.
    fn keep(&mut self, data: Bytes) -> bool {
        self.is_counted = data.len() > FREE;
        let has_room = !self.is_counted || self.account.set(data.len());
        self.rest = data;
        has_room
    }

    fn slice(&mut self) -> Bytes {
        let slice = self.rest.split_to(SLICE.min(self.rest.len()));
        // The last that a connection keeps must not keep all of it.
        match self.rest.len() < FREE {
            true => Bytes::copy_from_slice(&slice),
            false => slice,
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            if std::mem::take(&mut self.is_counted) {
                // The last slices were copies.
                self.account.set(0);
            }
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => frame,
                other => return other,
            };
            let data = match frame.into_data() {
                Ok(data) => data,
                Err(frame) => return Poll::Ready(Some(Ok(frame))),
            };
            if data.len() <= SLICE {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if !self.keep(data) {
                return Poll::Ready(Some(Err(axum::Error::new(NoRoom))));
            }
        }
        Poll::Ready(Some(Ok(Frame::data(self.slice()))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (kept, hint) = (self.rest.len() as u64, self.body.size_hint());
        let mut all = SizeHint::new();
        all.set_lower(hint.lower() + kept);
        if let Some(upper) = hint.upper() {
            all.set_upper(upper + kept);
        }
        all
    }
}
