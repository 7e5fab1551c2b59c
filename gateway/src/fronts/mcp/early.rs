//! A response whose head does not wait for its body.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::{sleep, timeout};

/// What is wrong with a request is found by then, and has its own status.
const PROMPT: Duration = Duration::from_millis(10);
/// Between two comments in a stream that has nothing to say.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The response, if it is there soon; else a stream of events that begins at once and carries it
/// when it comes. A client may give up on a server that sends no head for minutes, and cannot tell
/// one that works from one that is gone.
///
/// Dropping the response drops what makes it.
pub async fn early(making: impl Future<Output = Response> + Send + 'static) -> Response {
    begin(making.boxed(), PROMPT, KEEP_ALIVE).await
}

async fn begin(
    mut making: BoxFuture<'static, Response>,
    prompt: Duration,
    keep_alive: Duration,
) -> Response {
    if let Ok(response) = timeout(prompt, &mut making).await {
        return response;
    }
    let body = stream::unfold(Stage::Making(making), move |stage| {
        next(stage, keep_alive).boxed()
    });
    let head = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
    ];
    (head, Body::from_stream(body)).into_response()
}

enum Stage {
    Making(BoxFuture<'static, Response>),
    Passing(BodyDataStream),
    Over,
}

async fn next(
    mut stage: Stage,
    keep_alive: Duration,
) -> Option<(Result<Bytes, axum::Error>, Stage)> {
    loop {
        stage = match stage {
            Stage::Making(mut making) => tokio::select! {
                response = &mut making => match is_event_stream(&response) {
                    true => Stage::Passing(response.into_body().into_data_stream()),
                    false => return Some((Ok(event(response).await), Stage::Over)),
                },
                () = sleep(keep_alive) => {
                    return Some((Ok(Bytes::from_static(b":\n\n")), Stage::Making(making)));
                }
            },
            Stage::Passing(mut body) => {
                let chunk = body.next().await?;
                return Some((chunk, Stage::Passing(body)));
            }
            Stage::Over => return None,
        };
    }
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// A body of JSON as an event; none of ours has a line break in it.
async fn event(response: Response) -> Bytes {
    match to_bytes(response.into_body(), usize::MAX).await {
        Ok(json) => [b"data: ", &json[..], b"\n\n"].concat().into(),
        Err(_) => Bytes::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;

    const SHORT: Duration = Duration::from_millis(20);

    async fn text(response: Response) -> String {
        let body = to_bytes(response.into_body(), 1_000).await.unwrap();
        String::from_utf8(body.into()).unwrap()
    }

    async fn late(response: Response) -> Response {
        let making = async {
            sleep(SHORT * 6).await;
            response
        };
        begin(making.boxed(), SHORT, SHORT * 2).await
    }

    #[tokio::test]
    async fn a_prompt_response_is_as_it_is() {
        let response = early(async { (StatusCode::BAD_REQUEST, "{}").into_response() }).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(text(response).await, "{}");
    }

    #[tokio::test]
    async fn a_late_one_is_an_event_in_a_stream_that_has_begun() {
        let response = late("{}".into_response()).await;
        assert!(is_event_stream(&response));
        let said = text(response).await;
        assert!(
            said.starts_with(":\n\n") && said.ends_with(":\n\ndata: {}\n\n"),
            "{said}"
        );
        let events = [(CONTENT_TYPE, "text/event-stream")];
        let said = text(late((events, "data: 1\n\ndata: 2\n\n").into_response()).await).await;
        assert!(said.ends_with(":\n\ndata: 1\n\ndata: 2\n\n"), "{said}");
    }

    #[tokio::test]
    async fn dropping_it_drops_what_makes_it() {
        let (alive, dropped) = tokio::sync::oneshot::channel::<()>();
        let making = async move {
            let _alive = alive;
            std::future::pending::<Response>().await
        };
        drop(begin(making.boxed(), SHORT, SHORT).await);
        assert!(dropped.await.is_err());
    }
}
