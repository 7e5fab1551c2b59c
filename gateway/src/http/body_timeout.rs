//! How long the body of a request may take to come.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use serde_json::json;
use tokio::time::{Sleep, sleep};

use crate::fronts::refusal::refuse;
use caphost::call::{Code, Error};

/// Answers 408 to a request that is waiting for the rest of its body when the time is up, which
/// begins with the end of its head. What is read by then is thrown away.
pub(crate) async fn body_timeout(
    State(time): State<Duration>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let late = Arc::new(AtomicBool::new(false));
    let request = request.map(|body| {
        Body::new(Timed {
            body,
            end: Box::pin(sleep(time)),
            late: late.clone(),
        })
    });
    let response = next.run(request).await;
    // Whatever was made of a body that broke off.
    if late.load(Ordering::Relaxed) {
        too_late(time)
    } else {
        response
    }
}

fn too_late(time: Duration) -> Response {
    let seconds = time.as_secs_f64();
    let message = format!("The body of the request did not come within {seconds} s");
    let details = json!({ "limit": "httpBodyTimeout", "max": seconds * 1_000.0 });
    let error = Error::new(Code::TRANSPORT_ERROR, message).with_details(Box::new(details));
    let mut response = refuse(StatusCode::REQUEST_TIMEOUT, &error);
    // What still comes is no request.
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

/// A body that breaks off when its time is up.
struct Timed {
    body: Body,
    end: Pin<Box<Sleep>>,
    late: Arc<AtomicBool>,
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.end.as_mut().poll(context).map(|()| {
            self.late.store(true, Ordering::Relaxed);
            Some(Err(axum::Error::new("the body took too long")))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
