//! `/mcp` and `/mcp/<app id>`.

use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::rejection::PathRejection;
use axum::extract::{self, Path, State};
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures_util::future::join_all;
use serde_json::value::RawValue;

use super::caller::Caller;
use super::head::{Accepted, Head};
use super::listening::listening;
use super::parked::Parked;
use super::questions::{payload_of, read_id};
use super::reply::{events, together};
use super::request::Request;
use super::server::{Asker, Mcp};
use super::sessions::{McpOptions, Sessions};
use super::tasks::Tasks;
use super::tools;
use super::wanted::Wanted;
use crate::bounds::{Budget, QuotaKey};
use crate::broker::MAX_NAME_CHARS;
use crate::broker::calls::Dialect;
use crate::fronts::auth::Bearer;
use crate::fronts::body;
use crate::fronts::coerce;
use crate::fronts::lists::Listing;
use crate::fronts::refusal::{JsonRpc, Refusal};
use crate::fronts::shared_sessions::{SharedSessions, Sharing};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::limits::Limits;
use crate::tokens::{Role, app_of};
use crate::wire::json_rpc::{Cancel, Id, Message, Unreadable, read, read_cancel};
use crate::wire::mended_bytes;
use caphost::dialect::mcp::MAX_BATCH;

const NO_BATCHES: &str = "Batches are part of MCP 2025-03-26 only: send one message at a time";

/// The routes of MCP. With `coerce`, arguments that are texts are read as the schema wants.
pub fn routes(hub: Arc<Hub>, options: McpOptions, coerce: bool) -> Router {
    let sessions = Sessions::new(hub.clone(), &options);
    let idle = options.mcp_session_idle;
    let shared = |takes_questions: bool| {
        let clients = Sharing {
            dialect: Dialect::Mcp,
            name: "caphost MCP",
            takes_questions,
        };
        SharedSessions::new(hub.clone(), clients, idle, usize::MAX)
    };
    let (shared, asked) = (shared(false), shared(true));
    let patience = options.mcp_answer_timeout;
    let parked = Parked::new(hub.clone(), sessions.seals.clone(), patience);
    let mcp = Arc::new(Mcp {
        tasks: Tasks::new(hub.clone(), &options),
        lists: Listing::of_offers(hub.clone()),
        hub,
        sessions,
        shared,
        asked,
        parked,
        open: Budget::new(options.mcp_max_open, options.mcp_max_open_per_token),
        coerce,
    });
    Router::new()
        .route("/mcp", any(serve))
        .route("/mcp/", any(serve))
        .route("/mcp/{*app}", any(serve))
        .with_state(mcp)
}

async fn serve(
    State(mcp): State<Arc<Mcp>>,
    app: Result<Option<Path<String>>, PathRejection>,
    address: PeerAddress,
    bearer: Bearer,
    request: extract::Request,
) -> Response {
    match app {
        Ok(app) => {
            let app = app.as_ref().map(|Path(app)| app.as_str());
            let base = mcp.hub.files.base(request.headers());
            let asker = mcp.asker(app, address, &bearer, (request.uri().query(), base));
            mcp.answer(asker, request).await
        }
        Err(error) => JsonRpc(Refusal::invalid(error.body_text()), None).into_response(),
    }
}

impl Mcp {
    async fn answer(&self, asker: Result<Asker, Refusal>, request: extract::Request) -> Response {
        let answered = match asker {
            Ok(asker) => match *request.method() {
                Method::POST => self.post(asker, request).await,
                Method::GET => self.listen(&asker, Head(request.headers())).await,
                Method::DELETE => self.end(&asker, Head(request.headers())).await,
                _ => Err(no_method().into()),
            },
            Err(refusal) => Err(refusal.into()),
        };
        let mut response = answered.unwrap_or_else(IntoResponse::into_response);
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            let allowed = HeaderValue::from_static("GET, POST, DELETE");
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }

    fn asker(
        &self,
        app: Option<&str>,
        address: PeerAddress,
        bearer: &Bearer,
        (query, base): (Option<&str>, Option<String>),
    ) -> Result<Asker, Refusal> {
        let identity = bearer.acts_as(Role::Agent).map_err(|denied| {
            let missing = "A valid token of role agent is needed";
            Refusal::denied(denied, missing, "The token's role may not call apps")
        })?;
        let app: Option<Arc<str>> = match app {
            Some(app) => {
                let app = app_id(app)?;
                if !identity.may_reach(app) {
                    return Err(other_app(app));
                }
                Some(app.into())
            }
            None => identity.app.clone(),
        };
        let quota_key = QuotaKey::of(&self.hub.tokens, &identity, address.0.ip());
        let tools = Wanted::of(query)?;
        let caller = Caller {
            identity,
            app,
            tools,
            coerce: self.coerce || coerce::is_asked_for(query),
        };
        Ok(Asker {
            caller,
            quota_key,
            base,
        })
    }

    async fn post(&self, asker: Asker, request: extract::Request) -> Result<Response, JsonRpc> {
        let (parts, body) = request.into_parts();
        let head = Head(&parts.headers);
        head.check_type()?;
        let accepted = head.accepted()?;
        let max = self.hub.limits.message_bytes;
        let body = body::read(&parts.extensions, body, max).await?;
        let body = mended_bytes(&body);
        match message(&body, &self.hub.limits)? {
            Message::Batch => self.batch(&asker, (head, accepted), &body).await,
            message => self.said(&asker, (head, accepted), message).await,
        }
    }

    /// Answers the messages of a batch, in the version with batches.
    async fn batch(
        &self,
        asker: &Asker,
        (head, accepted): (Head<'_>, Accepted),
        body: &[u8],
    ) -> Result<Response, JsonRpc> {
        let has_batches = !head.is_stateless() && head.session().is_some() && {
            let session = self.session(asker, head).await?;
            session.version.batches
        };
        if !has_batches {
            return Err(Refusal::invalid(NO_BATCHES).into());
        }
        let messages: Vec<&RawValue> = serde_json::from_slice(body).unwrap_or_default();
        if messages.is_empty() || messages.len() > MAX_BATCH {
            let what = format!("A batch has 1 to {MAX_BATCH} messages");
            return Err(Refusal::invalid(what).into());
        }
        let responses = messages.iter().map(|text| async {
            let said = match message(text.get().as_bytes(), &self.hub.limits) {
                Ok(message) => {
                    self.said(asker, (head, accepted.as_stream()), message)
                        .await
                }
                Err(refusal) => Err(refusal),
            };
            said.unwrap_or_else(IntoResponse::into_response)
        });
        Ok(together(join_all(responses).await, accepted).await)
    }

    /// Answers a message that is no batch.
    async fn said(
        &self,
        asker: &Asker,
        (head, accepted): (Head<'_>, Accepted),
        message: Message<'_>,
    ) -> Result<Response, JsonRpc> {
        match message {
            Message::Request { id, method, params } => {
                let answered = match Request::read(id.clone(), method, params) {
                    Ok(request) => self.in_turn(asker, (head, accepted), request).await,
                    Err(refusal) => Err(refusal),
                };
                answered.map_err(|refusal| JsonRpc(refusal, Some(id)))
            }
            // No session has sent this notification.
            Message::Notification { .. } if head.is_stateless() => {
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Notification { method, params } => {
                let session = self.session(asker, head).await?;
                if method == "notifications/initialized" {
                    session.initialized(|| {
                        tools::fingerprint(&self.hub, session.caller.app.as_deref())
                    });
                }
                let id_bytes = self.hub.limits.id_bytes;
                if let Some(Cancel { id, reason, .. }) = cancel(&method, params, id_bytes)
                    && !session.cancel(&id, reason.clone())
                {
                    self.sessions.tell_cancel(session.number, &id, reason)?;
                }
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Response(id, answered) => {
                let session = match head.is_stateless() {
                    true => Err(Refusal::invalid("No response is expected here")),
                    false => self.session(asker, head).await,
                };
                let session = session.map_err(|refusal| JsonRpc(refusal, id.clone()))?;
                if let Some((run, question)) = id.as_ref().and_then(|id| read_id(id.value())) {
                    let thread = session.number;
                    let payload = payload_of(answered);
                    match self.tasks.of(run, &asker.caller.identity) {
                        Some(task) => task.answer(question, &payload),
                        None => self.sessions.answer(thread, (run, question), payload)?,
                    }
                }
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Batch => Err(Refusal::invalid("A batch holds no batches").into()),
            Message::Invalid { id, fault } => {
                let id = id.filter(is_allowed);
                Err(JsonRpc(Refusal::invalid(fault.as_str()), id))
            }
        }
    }

    /// Answers a request. A request for a list waits for the holder's turn, because lists may be long.
    async fn in_turn(
        &self,
        asker: &Asker,
        reply: (Head<'_>, Accepted),
        request: Request<'_>,
    ) -> Result<Response, Refusal> {
        if request.method != "tools/list" {
            return self.request(asker, reply, request).await;
        }
        let turn = self.lists.turn_of(&asker.quota_key).await?;
        let response = self.request(asker, reply, request).await?;
        let bytes = response.body().size_hint().exact();
        turn.end(bytes.unwrap_or_default() as usize);
        Ok(response)
    }

    /// Opens a stream of messages that answer no request.
    async fn listen(&self, asker: &Asker, head: Head<'_>) -> Result<Response, JsonRpc> {
        head.accepted()?.check_events()?;
        head.check_version()?;
        if head.is_stateless() {
            return Err(no_method().into());
        }
        let session = self.session(asker, head).await?;
        let share = self.share(asker)?;
        Ok(events(None, listening(&self.hub, &session), share))
    }

    /// The client ends its session, on any worker.
    async fn end(&self, asker: &Asker, head: Head<'_>) -> Result<Response, JsonRpc> {
        head.check_version()?;
        if head.is_stateless() {
            return Err(no_method().into());
        }
        let session = self.session(asker, head).await?;
        self.hub.files.end(&session.take_files());
        self.sessions.end(session.number).await;
        Ok(StatusCode::NO_CONTENT.into_response())
    }
}

/// Reads a body.
fn message<'a>(body: &'a [u8], limits: &Limits) -> Result<Message<'a>, JsonRpc> {
    let id_bytes = limits.id_bytes;
    let read = std::str::from_utf8(body)
        .map_err(|error| Unreadable::not_json(&error))
        .and_then(|body| read(body, limits.depth));
    let message = read.map_err(|Unreadable { code, id, error }| {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, error);
        JsonRpc(refusal.with_rpc_code(code), id.filter(is_allowed))
    })?;
    match message {
        Message::Request { id, .. } if !is_allowed(&id) => {
            Err(Refusal::invalid("`id` must be a string or an integer").into())
        }
        Message::Request { id, .. } if is_longer(&id, id_bytes) => {
            Err(Refusal::invalid(format!("`id` has more than {id_bytes} bytes")).into())
        }
        message => Ok(message),
    }
}

/// Reads a notification as a cancel of a request. The id of a request has at most `id_bytes` bytes.
fn cancel(method: &str, params: Option<&str>, id_bytes: usize) -> Option<Cancel> {
    read_cancel(method, params).filter(|it| !is_longer(&it.id, id_bytes))
}

fn is_longer(id: &Id, bytes: usize) -> bool {
    id.value().to_string().len() > bytes
}

/// MCP's ids are texts or whole numbers.
fn is_allowed(id: &Id) -> bool {
    let number = id.value().as_f64();
    id.value().is_string() || number.is_some_and(|number| number.fract() == 0.0)
}

/// An app's id from the path.
fn app_id(text: &str) -> Result<&str, Refusal> {
    let length = app_of(text).chars().count();
    let wrong = !(1..=MAX_NAME_CHARS).contains(&length)
        || text.contains('/')
        || text.chars().any(char::is_control)
        || [".", ".."].contains(&text);
    if wrong {
        let message = format!(
            "The path is /mcp/<app id>: 1 to {MAX_NAME_CHARS} printable characters, `/` not among them"
        );
        return Err(Refusal::invalid(message));
    }
    Ok(text)
}

/// 403: the token is for another app.
fn other_app(app: &str) -> Refusal {
    let what = format!("The token is not for the app {app:?}");
    Refusal::forbidden(what)
}

/// 405
fn no_method() -> Refusal {
    Refusal::method("Use POST, or in a session GET or DELETE")
}

#[cfg(test)]
mod tests;
