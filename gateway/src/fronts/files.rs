//! `GET /files/<id>`: a file that a result refers to, for the owner of the call. The client sets the pace: the
//! gateway asks the page for more as the client reads. A client that goes away stops the page.

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

use super::auth::Bearer;
use super::refusal::Refusal;
use crate::gateway::Hub;
use crate::gateway::files::{Closed, Head, Lost, PATH};
use crate::wire::for_log;
use caphost::call::{Code, Error};

/// Why an address leads nowhere. A stranger's file looks the same as none.
const NOT_FOUND: &str = "There is no such file for you: it was read, its time is over, its app is gone, or it is not yours";

/// The route.
pub fn routes(hub: Arc<Hub>) -> Router {
    Router::new()
        .route(&format!("{PATH}{{id}}"), get(read))
        .method_not_allowed_fallback(async || Refusal::method("Use GET"))
        .with_state(hub)
}

async fn read(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    bearer: Bearer,
) -> Result<Response, Refusal> {
    let reader = bearer.viewer()?;
    let id = Uuid::try_parse(&id).map_err(|_| not_found())?;
    let mut file = hub.open_file(id, &reader).map_err(closed)?;
    let head = file.begin().await.map_err(lost)?;
    let bytes = stream::unfold(file, |mut file| async {
        let bytes = file.next().await?;
        // The client sees a broken answer, because it has the head already.
        Some((bytes.map_err(|lost| error_of(lost).message.clone()), file))
    });
    let mut response = Body::from_stream(bytes).into_response();
    let headers = response.headers_mut();
    if let Some(size) = head.size {
        headers.insert(CONTENT_LENGTH, size.into());
    }
    headers.insert(CONTENT_TYPE, media_type(&head));
    headers.insert(CONTENT_DISPOSITION, disposition(&head));
    // A browser that opens the file runs nothing of it.
    let sandbox = HeaderValue::from_static("sandbox; default-src 'none'");
    headers.insert(CONTENT_SECURITY_POLICY, sandbox);
    Ok(response)
}

fn not_found() -> Refusal {
    let error = Error::new(Code::OPERATION_FAILED, NOT_FOUND);
    Refusal::new(StatusCode::NOT_FOUND, error)
}

fn closed(why: Closed) -> Refusal {
    match why {
        Closed::NotFound => not_found(),
        Closed::Busy => {
            let error = Error::new(Code::OPERATION_FAILED, "The file is being read");
            Refusal::new(StatusCode::CONFLICT, error)
        }
    }
}

fn lost(lost: Lost) -> Refusal {
    Refusal::new(StatusCode::BAD_GATEWAY, error_of(lost))
}

/// The error of a file whose bytes do not come.
pub(crate) fn error_of(lost: Lost) -> crate::wire::Failure {
    match lost {
        Lost::Disconnected => {
            let message = "The app is disconnected, or does not answer: the file cannot be read";
            Error::new(Code::DISCONNECTED, message)
        }
        Lost::Unreadable(why) => {
            let message = format!("The app cannot give the file: {}", for_log(why));
            Error::new(Code::OPERATION_FAILED, message)
        }
    }
}

fn media_type(head: &Head) -> HeaderValue {
    let said = head.media_type.as_deref().unwrap_or_default();
    let said = HeaderValue::from_str(said).ok().filter(|it| !it.is_empty());
    said.unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

/// The file is saved under the app's name for it (RFC 6266).
fn disposition(head: &Head) -> HeaderValue {
    let mut disposition = String::from("attachment");
    if let Some(name) = &head.filename {
        let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
        let _ = write!(disposition, "; filename*=UTF-8''{name}");
    }
    HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"))
}
