//! `/mcp` and `/mcp/<app id>`.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::HeaderMap;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::model::ProtocolVersion;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::value::RawValue;
use tokio::sync::Mutex;

use super::caller::Caller;
use super::early::early;
use super::handler::Handler;
use super::head::{app_id, check_types};
use super::log_level::LogLevel;
use super::options::McpOptions;
use super::refusal::{
    answer, in_json, invalid_params, invalid_request, no_app, no_room, no_session, other_app,
    status, unknown_for_now,
};
use super::request::Message;
use super::session::{Manager, NotTaken, Sessions, call_tool, keep};
use super::stateless::Stateless;
use crate::fronts::auth::authenticate;
use crate::fronts::refusal::Refusal;
use crate::gateway::Hub;
use crate::tokens::Role;
use crate::wire::mended_bytes;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// What all requests share.
struct Mcp {
    hub: Arc<Hub>,
    options: McpOptions,
    sessions: Arc<Sessions>,
    stateless: Arc<Stateless>,
}

/// The routes of MCP.
pub fn routes(hub: Arc<Hub>, options: McpOptions) -> Router {
    let idle = options.mcp_session_idle;
    let sessions = Arc::new(Sessions::new(hub.clone(), &options));
    let stateless = Arc::new(Stateless::new(hub.clone(), idle));
    if hub.workers().is_some() {
        let told = Arc::new(Mutex::new(hub.from_others()));
        let (tasks, sessions) = (hub.tasks.clone(), Arc::downgrade(&sessions));
        tokio::spawn(async move {
            let keep = || keep(sessions.clone(), told.clone());
            tasks.keep_going("mcp sessions", keep).await;
        });
    }
    let mcp = Arc::new(Mcp {
        hub,
        options,
        sessions,
        stateless,
    });
    let any_app = |State(mcp): State<Arc<Mcp>>, request: Request| async move {
        mcp.answer(None, request).await
    };
    let one_app = |State(mcp): State<Arc<Mcp>>,
                   path: Result<Path<String>, PathRejection>,
                   request: Request| async move {
        match path {
            Ok(Path(app)) => mcp.answer(Some(&app), request).await,
            Err(error) => invalid_request(error.body_text()).in_json_rpc(None),
        }
    };
    Router::new()
        .route("/mcp", any(any_app))
        .route("/mcp/", any(any_app))
        .route("/mcp/{*app}", any(one_app))
        .with_state(mcp)
}

impl Mcp {
    async fn answer(&self, app: Option<&str>, request: Request) -> Response {
        let caller = match self.caller(app, &request) {
            Ok(caller) => caller,
            Err(refusal) => return answer(refusal, None),
        };
        match *request.method() {
            Method::POST => self.post(caller, request).await,
            Method::GET => match self.take_up(&caller, request.headers()).await {
                Ok(()) => self.serve(caller, request, None).await,
                Err(refusal) => answer(refusal, None),
            },
            Method::DELETE => match self.end(&caller, request.headers()).await {
                Ok(()) => self.serve(caller, request, None).await,
                Err(refusal) => answer(refusal, None),
            },
            _ => {
                let refusal = status(StatusCode::METHOD_NOT_ALLOWED, "Use POST, GET or DELETE");
                answer(refusal, None)
            }
        }
    }

    fn caller(&self, app: Option<&str>, request: &Request) -> Result<Caller, Refusal> {
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
        Ok(Caller { identity, app })
    }

    async fn post(&self, caller: Caller, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        if let Err(refusal) = check_types(&mut parts.headers) {
            return answer(refusal, None);
        }
        let max = self.hub.limits.message_bytes;
        let Ok(body) = to_bytes(body, max).await else {
            let message = format!("The body has more than {max} bytes, or broke off");
            return status(StatusCode::PAYLOAD_TOO_LARGE, message).in_json_rpc(None);
        };
        let body = match mended_bytes(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(mended) => mended.into(),
        };
        let message = match Message::read(&body) {
            Ok(message) => message,
            Err((refusal, id)) => return answer(refusal, id),
        };
        let max = self.hub.limits.id_bytes;
        if message.id.is_some_and(|id| id.get().len() > max) {
            let what = format!("`id` has more than {max} bytes");
            return invalid_request(what).in_json_rpc(None);
        }
        if let Err(refusal) = self.may_begin(&caller, &message) {
            return answer(refusal, message.id);
        }
        if message.is_notification() && is_stateless(&parts.headers) {
            // There is no session it could belong to. The SDK would ask for headers that clients
            // send with requests only.
            return StatusCode::ACCEPTED.into_response();
        }
        if let Err(refusal) = self.take_up(&caller, &parts.headers).await {
            return answer(refusal, message.id);
        }
        if message.calls_a_tool()
            && let Some(answer) = self.call_in_session(&caller, &parts.headers, &message)
        {
            return answer;
        }
        let may_take_long = is_stateless(&parts.headers) && message.calls_a_tool();
        let id = message.id.map(ToOwned::to_owned);
        let request = Request::from_parts(parts, Body::from(Bytes::clone(&body)));
        let serving = self.serve(caller, request, id);
        match may_take_long {
            true => early(serving).await,
            false => serving.await,
        }
    }

    /// A session that has begun outlives its app: the page may only have been reloaded.
    fn may_begin(&self, caller: &Caller, message: &Message<'_>) -> Result<(), Refusal> {
        if message.begins()
            && let Some(app) = caller.app.as_deref()
            && self.hub.offer(Some(app)).is_err()
        {
            return Err(no_app(app));
        }
        if !message.is_initialize() {
            return Ok(());
        }
        if let Some(what) = message.bad_initialize() {
            return Err(invalid_params(what));
        }
        if !self.sessions.make_room(&caller.identity) {
            return Err(no_room());
        }
        Ok(())
    }

    /// The session a request names may have begun on another worker.
    async fn take_up(&self, caller: &Caller, headers: &HeaderMap) -> Result<(), Refusal> {
        let named = headers.get(SESSION).and_then(|id| id.to_str().ok());
        let Some(id) = named.filter(|_| !is_stateless(headers)) else {
            return Ok(());
        };
        let handler = || self.handler(caller.clone());
        let taken = self.sessions.take_up(id, caller, handler).await;
        taken.map_err(|why| match why {
            NotTaken::Away => unknown_for_now(),
            NotTaken::NoRoom => no_room(),
        })
    }

    /// The client ends its session, which is looked for here and on all other workers.
    async fn end(&self, caller: &Caller, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(id) = headers.get(SESSION) else {
            return Err(invalid_request("Mcp-Session-Id is missing"));
        };
        self.take_up(caller, headers).await?;
        let id = id.to_str().map_err(|_| no_session())?;
        if self.sessions.find(id, caller).is_none() {
            return Err(no_session());
        }
        self.sessions.end_elsewhere(id).await;
        Ok(())
    }

    /// The answer to a call of a tool in a session, which needs nothing of the SDK. None: the SDK
    /// says what is wrong with it.
    fn call_in_session(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        message: &Message<'_>,
    ) -> Option<Response> {
        let mut version = None;
        if let Some(header) = headers.get(VERSION) {
            let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
            let known = known.find(|it| it.has_initialize() && header == it.as_str())?;
            version = Some(known.as_str());
        }
        let session = headers.get(SESSION)?.to_str().ok()?;
        let session = self.sessions.find(session, caller)?;
        let (id, params) = message.tool_call(version)?;
        call_tool(&self.hub, &session, id, params)
    }

    fn handler(&self, caller: Caller) -> Handler {
        let (hub, stateless) = (self.hub.clone(), self.stateless.clone());
        let page_size = self.options.mcp_page_size;
        Handler::new(hub, caller, stateless, page_size, LogLevel::default())
    }

    /// Lets the SDK answer. Its own checks of Host and Origin are off: the gateway has made them.
    fn serve(
        &self,
        caller: Caller,
        request: Request,
        id: Option<Box<RawValue>>,
    ) -> impl Future<Output = Response> + Send + use<> {
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_sse_retry(None)
            .with_max_request_body_bytes(self.hub.limits.message_bytes);
        let log_level = LogLevel::default();
        let manager = Manager {
            sessions: self.sessions.clone(),
            caller: caller.clone(),
            log_level: log_level.clone(),
        };
        let (hub, page_size) = (self.hub.clone(), self.options.mcp_page_size);
        let stateless = self.stateless.clone();
        let handler = move || {
            let (hub, caller, stateless) = (hub.clone(), caller.clone(), stateless.clone());
            let log_level = log_level.clone();
            Ok(Handler::new(hub, caller, stateless, page_size, log_level))
        };
        let service = StreamableHttpService::new(handler, Arc::new(manager), config);
        async move {
            let response = service.handle(request).await;
            in_json(response.map(Body::new), id.as_deref()).await
        }
    }
}

/// Whether it is of a version without sessions.
fn is_stateless(headers: &HeaderMap) -> bool {
    let version = headers.get(VERSION).and_then(|it| it.to_str().ok());
    version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str())
}
