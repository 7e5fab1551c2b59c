//! Answering the requests of MCP, in a session and without.

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use super::call;
use super::listening::{Silent, Subscription, events, whole};
use super::request::{Head, Request, SESSION, WITH_SESSIONS};
use super::result::{answer, complete};
use super::server::{Asker, Mcp, cacheable, no_session};
use super::session::{Caller, NotTaken, Session};
use super::tools;
use crate::fronts::refusal::Refusal;
use crate::wire::clipped;
use crate::wire::json_rpc::{Id, RpcError, code};
use caphost::call::{Code, Error};

/// Says which app a request has met that has named none, encoded as in a query.
const APP: &str = "caphost-app";

impl Mcp {
    pub(super) async fn request(
        &self,
        asker: &Asker,
        head: Head<'_>,
        request: Request<'_>,
    ) -> Result<Response, Refusal> {
        if request.method == "initialize" {
            return self.initialize(asker, head, &request).await;
        }
        if request.is_stateless(head)? {
            let only = self.only_app(&asker.caller);
            let mut response = self.alone(asker, request).await?;
            if let Some(app) = only {
                response.headers_mut().insert(APP, app);
            }
            return Ok(response);
        }
        let session = self.session(asker, head).await?;
        let (hub, id) = (&self.hub, request.id.clone());
        let answered = match &*request.method {
            "tools/call" => {
                let share = self.share(asker)?;
                call::in_session(hub, &session, request, share).await
            }
            _ => session.take(&id).map(|()| {
                let ended = self.ask_in_session(&session, &request);
                whole(Some(&answer(&id, ended)))
            }),
        };
        match answered {
            Ok(response) => Ok(response),
            Err(NotTaken::Gone) => Err(no_session()),
            Err(NotTaken::Cancelled) => Ok(whole(None)),
            Err(NotTaken::InFlight) => {
                let what = "A request with this id is in flight";
                let error = RpcError::new(code::INVALID_REQUEST, what);
                Ok(whole(Some(&error.answer(id.value()).to_string())))
            }
        }
    }

    /// Begins a session, unless it is asked for in one.
    async fn initialize(
        &self,
        asker: &Asker,
        head: Head<'_>,
        request: &Request<'_>,
    ) -> Result<Response, Refusal> {
        let client = request.introduction(head)?;
        let mut result = self.server(&asker.caller);
        result["protocolVersion"] = WITH_SESSIONS.into();
        let mut response = whole(Some(&answer(&request.id, Ok(result))));
        if head.session().is_some() {
            self.session(asker, head).await?;
            return Ok(response);
        }
        let begun = (self.sessions).begin(&asker.caller, asker.holder.clone(), client);
        let (id, session) = begun?;
        // Before the client knows the id: its next message may come to another worker.
        self.sessions.begun(&id, &session).await;
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(response)
    }

    /// Answers a request of a session that is no call.
    fn ask_in_session(&self, session: &Session, request: &Request<'_>) -> Result<Value, RpcError> {
        match &*request.method {
            "ping" => Ok(json!({})),
            "tools/list" => {
                let (caller, app) = (&session.caller, session.app(&self.hub));
                tools::list(&self.hub, caller, app, request, self.page_size)
            }
            "logging/setLevel" => {
                let hears_notices = hears_notices(request)?;
                session.hear_notices(hears_notices);
                Ok(json!({}))
            }
            method => Err(no_such_method(method)),
        }
    }

    /// The only app there is, if the client names none: who speaks to it without a session is told, so
    /// that it may stay with it.
    fn only_app(&self, caller: &Caller) -> Option<HeaderValue> {
        if caller.app.is_some() {
            return None;
        }
        let only = self.hub.offer(None).ok()?;
        let id = byte_serialize(only.app.id.as_bytes()).collect::<String>();
        HeaderValue::from_str(&id).ok()
    }

    /// Answers a request without a session.
    async fn alone(&self, asker: &Asker, request: Request<'_>) -> Result<Response, Refusal> {
        let caller = &asker.caller;
        let ended = match &*request.method {
            "tools/call" => {
                let Caller { identity, app } = caller;
                let in_use = || self.shared.session(identity, app.as_deref(), None);
                let share = self.share(asker)?;
                return Ok(call::alone(&self.hub, caller, in_use, request, share).await);
            }
            "subscriptions/listen" => match request.wants_tool_changes() {
                Some(tools) => return self.subscribe(asker, request.id, tools),
                None => {
                    let what = "The parameters are not those of subscriptions/listen";
                    Err(RpcError::new(code::INVALID_PARAMS, what))
                }
            },
            "server/discover" => Ok(self.discovered(caller)),
            "tools/list" => {
                let app = caller.app.as_deref();
                let list = tools::list(&self.hub, caller, app, &request, self.page_size);
                list.map(cacheable)
            }
            "logging/setLevel" => hears_notices(&request).map(|_| json!({})),
            method => Err(no_such_method(method)),
        };
        let is_unknown = matches!(&ended, Err(error) if error.code == code::METHOD_NOT_FOUND);
        if let Err(error) = &ended
            && is_unknown
        {
            let error = Error::new(Code::NOT_IMPLEMENTED, error.message.clone());
            let refusal = Refusal::new(StatusCode::NOT_FOUND, error);
            return Err(refusal.with_rpc_code(code::METHOD_NOT_FOUND));
        }
        Ok(whole(Some(&answer(&request.id, ended.map(complete)))))
    }

    fn subscribe(&self, asker: &Asker, id: Id, tools: bool) -> Result<Response, Refusal> {
        let share = self.share(asker)?;
        let first = Some(Subscription::acknowledged(&id, tools));
        let app = asker.caller.app.clone();
        Ok(match tools {
            true => events(first, Subscription::new(&self.hub, app, id), share),
            false => events(first, Silent, share),
        })
    }
}

/// Whether a client wants to hear log messages of level `notice`.
fn hears_notices(request: &Request<'_>) -> Result<bool, RpcError> {
    match request.level().as_deref() {
        Some("debug" | "info" | "notice") => Ok(true),
        Some("warning" | "error" | "critical" | "alert" | "emergency") => Ok(false),
        _ => Err(no_such_method("logging/setLevel with this level")),
    }
}

fn no_such_method(method: &str) -> RpcError {
    let what = format!("Method not found: {}", clipped(method, 64));
    RpcError::new(code::METHOD_NOT_FOUND, what)
}
