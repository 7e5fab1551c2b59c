//! `resources/read`: a file that a result links to, in one message. The message is sent as its bytes come, so the
//! gateway never has all of it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::head::{Accepted, EVENTS, JSON};
use super::session::McpSession;
use crate::bounds::Permit;
use crate::fronts::files::error_of;
use crate::fronts::kept::keep;
use crate::fronts::media_type::essence;
use crate::fronts::rpc::Request;
use crate::gateway::Hub;
use crate::gateway::files::{Closed, Opened, id_of};
use crate::tokens::Identity;
use crate::wire::json_rpc::{Id, RpcError, code, success};

/// In place of the bytes, until they come.
const BYTES: &str = "caphost-bytes";

/// A request of a session that reads a file.
pub struct InSession {
    pub session: Arc<McpSession>,
    pub begun: Request,
}

impl Drop for InSession {
    fn drop(&mut self) {
        self.session.over(&self.begun);
    }
}

/// Opens the file at that address for its owner.
async fn open(
    hub: &Arc<Hub>,
    owner: &Identity,
    uri: &str,
) -> Result<(Opened, Option<String>), RpcError> {
    let missing = |what: String| {
        let error = RpcError::new(code::INVALID_PARAMS, what);
        error.with_data(json!({ "uri": uri }))
    };
    let id = id_of(uri).ok_or_else(|| missing("There is no such resource".into()))?;
    let opened = hub.open_file(id, owner);
    let mut file = opened.map_err(|closed| {
        missing(match closed {
            Closed::Busy => "The resource is being read".into(),
            Closed::NotFound => {
                "There is no such resource for you: it was read, its time is over, or its app is gone"
                    .into()
            }
        })
    })?;
    let head = file.begin().await;
    let head = head.map_err(|lost| missing(error_of(lost).message.to_string()))?;
    Ok((file, head.media_type))
}

/// Answers a request that reads the resource `uri`. `complete` finishes the result for the client's version. The
/// error is `None` if the client does not wait for the answer any more.
pub async fn read(
    hub: &Arc<Hub>,
    (owner, uri): (&Identity, &str),
    id: &Id,
    (share, accepted): (Permit, Accepted),
    within: Option<InSession>,
    complete: impl FnOnce(Value) -> Value,
) -> Result<Response, Option<RpcError>> {
    let over = within.as_ref().map(|it| it.begun.over.clone());
    let opening = open(hub, owner, uri);
    let opened = match &over {
        Some(over) => over.run_until_cancelled(opening).await.ok_or(None)?,
        None => opening.await,
    };
    let (mut file, media_type) = opened.map_err(Some)?;
    let mut contents = json!({ "uri": uri });
    if let Some(media_type) = &media_type {
        contents["mimeType"] = media_type.as_str().into();
    }
    let is_text = media_type.is_some_and(|it| is_text(&essence(&it)));
    let text = is_text.then(|| file.held_text()).flatten();
    let member = if text.is_some() { "text" } else { "blob" };
    let has_text = text.is_some();
    contents[member] = text.unwrap_or_else(|| BYTES.into()).into();
    let answer = success(id.value(), &complete(json!({ "contents": [contents] })));
    let (before, after) = match answer.split_once(BYTES).filter(|_| !has_text) {
        Some((before, after)) => (before.to_string(), after.to_string()),
        None => (answer, String::new()),
    };
    // A client that cancels in the middle ignores a part of an event, and complains of a part of JSON.
    let as_event = accepted.events && accepted.event_bytes.is_none() && !has_text;
    let (kind, before, after) = match accepted.json && !as_event {
        true => (JSON, before, after),
        false => (EVENTS, format!("data: {before}"), format!("{after}\n\n")),
    };
    let file = (!has_text).then_some(file);
    let bytes = stream::unfold((file, Vec::new()), |(file, rest)| async {
        let (piece, state) = next(file?, rest).await;
        Some((piece, state))
    });
    let first = stream::once(async move { Ok(Bytes::from(before)) });
    let last = stream::once(async move { Ok(Bytes::from(after)) });
    let all = first.chain(bytes).chain(last);
    let all = all.take_until(async move {
        match over {
            Some(over) => over.cancelled().await,
            None => std::future::pending().await,
        }
    });
    let head = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store")];
    let response = (head, Body::from_stream(all)).into_response();
    Ok(response.map(|body| keep(body, (share, within))))
}

type Piece = Result<Bytes, String>;

/// The next bytes as base64. `rest` are the last bytes that fill no group of three.
async fn next(mut file: Opened, mut rest: Vec<u8>) -> (Piece, (Option<Opened>, Vec<u8>)) {
    match file.next().await {
        Some(Ok(bytes)) => {
            rest.extend_from_slice(&bytes);
            let whole = rest.len() / 3 * 3;
            let left = rest.split_off(whole);
            (Ok(STANDARD.encode(rest).into()), (Some(file), left))
        }
        None => (Ok(STANDARD.encode(rest).into()), (None, Vec::new())),
        Some(Err(lost)) => (Err(error_of(lost).message.to_string()), (None, rest)),
    }
}

fn is_text(essence: &str) -> bool {
    essence.starts_with("text/") || essence == "application/json"
}
