//! `/mcp` and `/mcp/<app id>`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{self, ConnectInfo, Path, State};
use axum::http::header::{ALLOW, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::call::{self, answer, complete};
use super::listening::{Listening, Silent, Subscription, events, whole};
use super::request::{Head, Request, SESSION, VERSIONS, WITH_SESSIONS};
use super::result::Ended;
use super::session::{Caller, NotTaken, Session};
use super::sessions::{McpOptions, Sessions};
use super::{elsewhere, tools};
use crate::broker::runs::Dialect;
use crate::fronts::auth::authenticate;
use crate::fronts::refusal::{JsonRpc, Refusal};
use crate::fronts::shared_sessions::SharedSessions;
use crate::fronts::shares::{Full, Holder, Share, Shares};
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::tokens::Role;
use crate::wire::json_rpc::{Cancel, Id, Message, RpcError, code, read, read_cancel};
use crate::wire::{clipped, mended_bytes};
use caphost::call::{Code, Error};

/// The longest app id there is, in characters.
const MAX_APP_ID_CHARS: usize = 128;

/// What all requests share.
struct Mcp {
    hub: Arc<Hub>,
    page_size: usize,
    sessions: Arc<Sessions>,
    shared: Arc<SharedSessions>,
    /// Responses that are open.
    open: Arc<Shares>,
}

/// Who sends a request.
struct Asker {
    caller: Caller,
    holder: Holder,
}

/// The routes of MCP.
pub fn routes(hub: Arc<Hub>, options: McpOptions) -> Router {
    let sessions = Arc::new(Sessions::new(hub.clone(), &options));
    let idle = options.mcp_session_idle;
    let shared = SharedSessions::new(hub.clone(), Dialect::Mcp, "caphost MCP", idle, usize::MAX);
    if hub.workers().is_some() {
        let told = Arc::new(Mutex::new(hub.from_others()));
        let (tasks, sessions) = (hub.tasks.clone(), Arc::downgrade(&sessions));
        tokio::spawn(async move {
            let keep = || elsewhere::keep(sessions.clone(), told.clone());
            tasks.keep_going("mcp sessions", keep).await;
        });
    }
    let mcp = Arc::new(Mcp {
        hub,
        page_size: options.mcp_page_size,
        sessions,
        shared: Arc::new(shared),
        open: Shares::new(options.mcp_max_open, options.mcp_max_open_per_token),
    });
    let any_app = |State(mcp): State<Arc<Mcp>>, request: extract::Request| async move {
        mcp.answer(None, request).await
    };
    let one_app = |State(mcp): State<Arc<Mcp>>,
                   path: Result<Path<String>, PathRejection>,
                   request: extract::Request| async move {
        match path {
            Ok(Path(app)) => mcp.answer(Some(&app), request).await,
            Err(error) => JsonRpc(Refusal::invalid(error.body_text()), None).into_response(),
        }
    };
    Router::new()
        .route("/mcp", any(any_app))
        .route("/mcp/", any(any_app))
        .route("/mcp/{*app}", any(one_app))
        .with_state(mcp)
}

impl Mcp {
    async fn answer(&self, app: Option<&str>, request: extract::Request) -> Response {
        let answered = match self.asker(app, &request) {
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

    fn asker(&self, app: Option<&str>, request: &extract::Request) -> Result<Asker, Refusal> {
        let query = request.uri().query();
        let identity =
            authenticate(&self.hub, Role::Agent, request.headers(), query).map_err(|denied| {
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
        let address = request.extensions().get::<ConnectInfo<PeerAddress>>();
        let address = address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |it| it.0.0.ip());
        let holder = Holder::of(&self.hub, &identity, address);
        let caller = Caller { identity, app };
        Ok(Asker { caller, holder })
    }

    async fn post(&self, asker: Asker, request: extract::Request) -> Result<Response, JsonRpc> {
        let (parts, body) = request.into_parts();
        let head = Head(&parts.headers);
        head.check_types()?;
        let max = self.hub.limits.message_bytes;
        let body = to_bytes(body, max).await;
        let body = body.map_err(|error| Refusal::unread(&error, max))?;
        let body = mended_bytes(&body);
        match message(&body)? {
            Message::Request { id, method, params } => {
                let max = self.hub.limits.id_bytes;
                if id.value().to_string().len() > max {
                    let what = format!("`id` has more than {max} bytes");
                    return Err(Refusal::invalid(what).into());
                }
                let request = Request::read(id.clone(), method, params);
                let answered = match request {
                    Ok(request) => self.request(&asker, head, request).await,
                    Err(refusal) => Err(refusal),
                };
                answered.map_err(|refusal| JsonRpc(refusal, Some(id)))
            }
            // There is no session it could belong to.
            Message::Notification { .. } if head.is_stateless() => {
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Notification { method, params } => {
                let session = self.session(&asker, head).await?;
                if method == "notifications/initialized" {
                    session.initialized(|| tools::offered(&self.hub, session.app(&self.hub)));
                }
                if let Some(Cancel { id, reason, .. }) = read_cancel(&method, params)
                    && !session.cancel(&id, reason.clone())
                {
                    let named = head.session().unwrap_or_default();
                    self.sessions.pass_on(named, &id, reason);
                }
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Response(id) => {
                let answered = match head.is_stateless() {
                    true => Err(Refusal::invalid("Nothing was asked for")),
                    false => self.session(&asker, head).await,
                };
                answered.map_err(|refusal| JsonRpc(refusal, id))?;
                Ok(StatusCode::ACCEPTED.into_response())
            }
            Message::Batch => {
                let what = "Batches are not part of this protocol: send one message at a time";
                Err(Refusal::invalid(what).into())
            }
            Message::Invalid { id, fault } => {
                let id = id.filter(is_allowed);
                Err(JsonRpc(Refusal::invalid(fault.as_str()), id))
            }
        }
    }

    async fn request(
        &self,
        asker: &Asker,
        head: Head<'_>,
        request: Request<'_>,
    ) -> Result<Response, Refusal> {
        if request.method == "initialize" {
            return self.initialize(asker, head, &request).await;
        }
        if request.is_stateless(head)? {
            return self.alone(asker, request).await;
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
                Ok(whole(Some(&answer(&id, Err(error)))))
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
    fn ask_in_session(&self, session: &Session, request: &Request<'_>) -> Ended {
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

    /// A share of the responses that may be open.
    fn share(&self, asker: &Asker) -> Result<Share, Refusal> {
        self.open.take(&asker.holder).map_err(|full| {
            let what = match full {
                Full::All(max) => format!("{max} responses of MCP are open, and no more may be"),
                Full::Share(max) => {
                    format!("{max} responses of yours are open, and no more may be")
                }
            };
            let error = Error::new(Code::RATE_LIMITED, what);
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
        })
    }

    /// A stream of what is no answer.
    async fn listen(&self, asker: &Asker, head: Head<'_>) -> Result<Response, JsonRpc> {
        head.check_events()?;
        head.check_version()?;
        if head.is_stateless() {
            return Err(no_method().into());
        }
        let session = self.session(asker, head).await?;
        let share = self.share(asker)?;
        Ok(events(None, Listening::open(&self.hub, &session), share))
    }

    /// The client ends its session, which is looked for here and on all other workers.
    async fn end(&self, asker: &Asker, head: Head<'_>) -> Result<Response, JsonRpc> {
        head.check_version()?;
        if head.is_stateless() {
            return Err(no_method().into());
        }
        self.session(asker, head).await?;
        if let Some(id) = head.session() {
            self.sessions.end_elsewhere(id).await;
            self.sessions.end(id);
        }
        Ok(StatusCode::ACCEPTED.into_response())
    }

    /// The session a request names, which may have begun on another worker.
    async fn session(&self, asker: &Asker, head: Head<'_>) -> Result<Arc<Session>, Refusal> {
        let Asker { caller, holder } = asker;
        head.check_version()?;
        let named = head.session();
        let id = named.ok_or_else(|| Refusal::invalid("Mcp-Session-Id is missing"))?;
        self.sessions.take_up(id, caller, holder.clone()).await?;
        self.sessions.find(id, caller).ok_or_else(no_session)
    }

    /// What a client is told of the server.
    fn server(&self, caller: &Caller) -> Value {
        let mut info = json!({ "name": "caphost", "version": env!("CARGO_PKG_VERSION") });
        let mut server =
            json!({ "capabilities": { "tools": { "listChanged": true }, "logging": {} } });
        if let Ok(offer) = self.hub.offer(caller.app.as_deref()) {
            info["title"] = (&*offer.app.name).into();
            if let Some(description) = &offer.app.description {
                server["instructions"] = description.as_str().into();
            }
        }
        server["serverInfo"] = info;
        server
    }

    /// The same without a session.
    fn discovered(&self, caller: &Caller) -> Value {
        let mut server = self.server(caller);
        let info = server["serverInfo"].take();
        if let Some(members) = server.as_object_mut() {
            members.remove("serverInfo");
        }
        server["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info });
        server["supportedVersions"] = json!(VERSIONS);
        cacheable(server)
    }
}

/// Reads a body.
fn message(body: &[u8]) -> Result<Message<'_>, JsonRpc> {
    let not_json = |error: &dyn std::fmt::Display| {
        let refusal = Refusal::invalid(format!("Not JSON: {error}"));
        JsonRpc::from(refusal.with_rpc_code(code::PARSE_ERROR))
    };
    let body = std::str::from_utf8(body).map_err(|error| not_json(&error))?;
    let message = read(body).map_err(|it| match it.is_json {
        true => {
            let refusal = Refusal::invalid(format!("It cannot be read: {}", it.error));
            JsonRpc(refusal, it.id.filter(is_allowed))
        }
        false => not_json(&it.error),
    })?;
    match message {
        Message::Request { id, .. } if !is_allowed(&id) => {
            Err(Refusal::invalid("`id` must be a string or an integer").into())
        }
        message => Ok(message),
    }
}

/// In MCP an id is a text or a whole number.
fn is_allowed(id: &Id) -> bool {
    let number = id.value().as_f64();
    id.value().is_string() || number.is_some_and(|number| number.fract() == 0.0)
}

/// Whether a client wants to hear log messages of level `notice`.
fn hears_notices(request: &Request<'_>) -> Result<bool, RpcError> {
    match request.level().as_deref() {
        Some("debug" | "info" | "notice") => Ok(true),
        Some("warning" | "error" | "critical" | "alert" | "emergency") => Ok(false),
        _ => Err(no_such_method("logging/setLevel with this level")),
    }
}

/// A result that nobody may keep: it may change at any time, and is for one caller.
fn cacheable(mut result: Value) -> Value {
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "private".into();
    result
}

fn no_such_method(method: &str) -> RpcError {
    let what = format!("Method not found: {}", clipped(method, 64));
    RpcError::new(code::METHOD_NOT_FOUND, what)
}

/// An app's id from the path.
fn app_id(text: &str) -> Result<&str, Refusal> {
    let length = text.chars().count();
    let wrong = !(1..=MAX_APP_ID_CHARS).contains(&length)
        || text.contains('/')
        || text.chars().any(char::is_control)
        || [".", ".."].contains(&text);
    if wrong {
        let message = format!(
            "The path is /mcp/<app id>: 1 to {MAX_APP_ID_CHARS} printable characters, `/` not among them"
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

/// 404: it has ended, or never was, or is another's.
fn no_session() -> Refusal {
    Refusal::not_found("Session not found")
}

/// 405
fn no_method() -> Refusal {
    Refusal::method("Use POST, or in a session GET or DELETE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_ids_are_names_and_no_paths() {
        assert_eq!(app_id("caphost-demo").unwrap(), "caphost-demo");
        assert_eq!(app_id("é app").unwrap(), "é app");
        for bad in [
            "",
            "a/b",
            "/",
            "..",
            ".",
            "a\0b",
            "a\nb",
            &"x".repeat(129),
            &"x".repeat(10_000),
        ] {
            assert!(app_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused_under_its_id_if_that_is_one() {
        for (body, code, id) in [
            ("", -32700, None),
            ("{", -32700, None),
            ("\u{0}", -32700, None),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"ping","a":1e999}"#,
                -32600,
                Some(json!(5)),
            ),
        ] {
            let JsonRpc(refusal, found) = message(body.as_bytes()).unwrap_err();
            let found = found.map(|id| id.value().clone());
            assert_eq!((refusal.rpc_code, found), (code, id), "{body}");
        }
        assert!(message(br#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#).is_ok());
    }
}
