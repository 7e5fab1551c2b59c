//! Answers to the requests of MCP, with and without a session.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};

use super::call;
use super::caller::Caller;
use super::head::{Accepted, Head};
use super::header::SESSION;
use super::listening::{acknowledged, subscription, unsubscribed};
use super::reply::{events, whole};
use super::request::Request;
use super::resources::{self, InSession};
use super::result::{answer, complete};
use super::server::{Asker, Mcp, cacheable};
use super::session::{McpSession, NotTaken};
use super::sessions::no_session;
use super::tasks::terms::has_tasks;
use super::tasks::{Becoming, Task, task_changes};
use super::tools;
use crate::bounds::Permit;
use crate::fronts::refusal::Refusal;
use crate::gateway::lifecycle::Phase;
use crate::wire::clipped;
use crate::wire::json_rpc::{Id, RpcError, code};
use caphost::call::{Code, Error};
use caphost::dialect::mcp::STATELESS;

impl Mcp {
    /// Answers a request.
    pub(super) async fn request(
        &self,
        asker: &Asker,
        (head, accepted): (Head<'_>, Accepted),
        request: Request<'_>,
    ) -> Result<Response, Refusal> {
        if request.method == "initialize" && !request.names_stateless(head) {
            self.initialize(asker, (head, accepted), &request).await
        } else if request.is_stateless(head)? {
            self.alone(asker, request, accepted).await
        } else {
            let session = self.session(asker, head).await?;
            self.in_session(asker, session, request, accepted).await
        }
    }

    /// Begins a session, unless the request already has one.
    async fn initialize(
        &self,
        asker: &Asker,
        (head, accepted): (Head<'_>, Accepted),
        request: &Request<'_>,
    ) -> Result<Response, Refusal> {
        let (client, version, takes_forms) = request.introduction(head)?;
        let mut result = self.server(&asker.caller, version);
        result["protocolVersion"] = version.name.into();
        let mut response = whole(Some(&answer(&request.id, Ok(result))), accepted);
        if head.session().is_some() {
            self.session(asker, head).await?;
            return Ok(response);
        }
        let hello = (client, version, takes_forms);
        let begun = (self.sessions).begin(&asker.caller, &asker.quota_key, hello);
        if let Ok(id) = HeaderValue::from_str(&begun?) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(response)
    }

    async fn in_session(
        &self,
        asker: &Asker,
        session: Arc<McpSession>,
        request: Request<'_>,
        accepted: Accepted,
    ) -> Result<Response, Refusal> {
        let id = request.id.clone();
        let answered = match &*request.method {
            method if has_tasks(session.version) && self.is_of_tasks(method, &request) => {
                self.task_in_session(asker, session, request, accepted)
                    .await?
            }
            "tools/call" => {
                let share = self.share(asker)?;
                let reply = (share, accepted);
                let links = self.links(asker, session.version, Some(&session));
                call::in_session(&self.hub, &session, (request, links), reply).await
            }
            "resources/read" => {
                let share = self.share(asker)?;
                match session.begin_reading(&id) {
                    Ok(begun) => {
                        let session = session.clone();
                        let within = Some(InSession { session, begun });
                        let reply = (share, accepted);
                        Ok(self.read(asker, &request, reply, within, |it| it).await)
                    }
                    Err(not_taken) => Err(not_taken),
                }
            }
            _ => session.take(&id).map(|()| {
                let ended = self.ask(&session.caller, Some(&session), &request);
                whole(Some(&answer(&id, ended)), accepted)
            }),
        };
        match answered {
            Ok(response) => Ok(response),
            Err(NotTaken::Gone) => Err(no_session()),
            Err(NotTaken::Cancelled) => Ok(whole(None, accepted)),
            Err(NotTaken::InFlight) => {
                let what = "A request with this id is in flight";
                let error = RpcError::new(code::INVALID_REQUEST, what);
                Ok(whole(Some(&error.answer(id.value()).to_string()), accepted))
            }
        }
    }

    /// Answers a request without a session.
    async fn alone(
        &self,
        asker: &Asker,
        request: Request<'_>,
        accepted: Accepted,
    ) -> Result<Response, Refusal> {
        let caller = &asker.caller;
        let ended = match &*request.method {
            "tools/call" => {
                let share = self.share(asker)?;
                if let Some(state) = request.state() {
                    return Ok(match self.parked.resume(caller, &state, &request) {
                        Ok(underway) => underway.respond(share, accepted).await,
                        Err(error) => {
                            let refused = Err::<Value, _>(error);
                            whole(Some(&answer(&request.id, refused)), accepted)
                        }
                    });
                }
                let asks = request.takes_forms().then(|| self.parked.asks(caller));
                let sessions = asks.as_ref().map_or(&self.shared, |_| &self.asked);
                let in_use = |app: &str| sessions.session(&caller.identity, Some(app), None);
                let becoming = Becoming::new(&self.tasks, asker, request.takes_tasks());
                let reply = (share, accepted);
                let request = (request, self.links(asker, &STATELESS, None));
                let of = (in_use, asks, becoming);
                return Ok(call::alone(&self.hub, caller, of, request, reply).await);
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" => {
                return self.task_alone(caller, &request, accepted).await;
            }
            "resources/read" => {
                let reply = (self.share(asker)?, accepted);
                let complete = |result| cacheable(complete(result));
                return Ok(self.read(asker, &request, reply, None, complete).await);
            }
            "subscriptions/listen" => match request.wants_tool_changes() {
                Some(tools) => {
                    accepted.check_events()?;
                    let tasks = self.tasks_to_hear(caller, &request)?;
                    return self.subscribe(asker, request.id, tools, tasks);
                }
                None => {
                    let what = "The parameters are not those of subscriptions/listen";
                    Err(RpcError::new(code::INVALID_PARAMS, what))
                }
            },
            _ => self.ask(caller, None, &request),
        };
        match ended {
            Err(error) if error.code == code::METHOD_NOT_FOUND => {
                let error = Error::new(Code::NOT_IMPLEMENTED, error.message);
                let refusal = Refusal::new(StatusCode::NOT_FOUND, error);
                Err(refusal.with_rpc_code(code::METHOD_NOT_FOUND))
            }
            ended => Ok(whole(
                Some(&answer(&request.id, ended.map(complete))),
                accepted,
            )),
        }
    }

    /// Answers a request that reads a resource.
    async fn read(
        &self,
        asker: &Asker,
        request: &Request<'_>,
        (share, accepted): (Permit, Accepted),
        within: Option<InSession>,
        complete: impl FnOnce(Value) -> Value,
    ) -> Response {
        let id = &request.id;
        let Some(uri) = request.uri() else {
            let error = RpcError::new(code::INVALID_PARAMS, "`uri` must be a string");
            return whole(Some(&answer(id, Err::<Value, _>(error))), accepted);
        };
        let wanted = (&asker.caller.identity, &*uri);
        let reply = (share, accepted);
        let read = resources::read(&self.hub, wanted, id, reply, within, complete).await;
        read.unwrap_or_else(|error| {
            let error = error.map(|error| answer(id, Err::<Value, _>(error)));
            whole(error.as_deref(), accepted)
        })
    }

    /// The result of a request that needs no call.
    fn ask(
        &self,
        caller: &Caller,
        session: Option<&McpSession>,
        request: &Request<'_>,
    ) -> Result<Value, RpcError> {
        match (&*request.method, session) {
            ("ping", Some(_)) => Ok(json!({})),
            ("server/discover", None) => Ok(self.discovered(caller)),
            ("tools/list", session) => {
                let version = session.map_or(&STATELESS, |session| session.version);
                let list = tools::list(&self.hub, caller, request, version)?;
                Ok(match session {
                    Some(_) => list,
                    None => cacheable(list),
                })
            }
            // What results link to is not listed: it can be read once.
            ("resources/list", session) => Ok(listed("resources", session)),
            ("resources/templates/list", session) => Ok(listed("resourceTemplates", session)),
            ("logging/setLevel", Some(session)) => {
                session.hear_notices(hears_notices(request)?);
                Ok(json!({}))
            }
            (method, _) => Err(no_such_method(method)),
        }
    }

    fn subscribe(
        &self,
        asker: &Asker,
        id: Id,
        tools: bool,
        tasks: Option<Vec<Arc<Task>>>,
    ) -> Result<Response, Refusal> {
        let share = self.share(asker)?;
        let heard = tasks.as_ref().map(|tasks| {
            let ids = tasks.iter().map(|task| task.id.to_string());
            ids.collect::<Vec<_>>()
        });
        let first = Some(acknowledged(&id, tools, heard.as_deref()));
        let app = asker.caller.app.clone();
        let changes = match tools {
            true => subscription(&self.hub, app, id.clone()),
            false => stream::pending().boxed(),
        };
        let tasks = tasks.into_iter().flatten();
        let tasks = tasks.map(|task| task_changes(task, id.clone()));
        let changes = stream::select(changes, stream::select_all(tasks));
        // A client takes a stream without a result for a broken connection.
        let stopping = self.hub.lifecycle.reached(Phase::Stopping);
        let ended = stream::once(async move { unsubscribed(&id) }).boxed();
        let messages = changes.take_until(stopping.boxed()).chain(ended);
        Ok(events(first, messages, share))
    }
}

/// An empty list of that kind.
fn listed(kind: &str, session: Option<&McpSession>) -> Value {
    let list = json!({ kind: [] });
    match session {
        Some(_) => list,
        None => cacheable(list),
    }
}

/// Whether a client wants log messages of the level `notice`.
fn hears_notices(request: &Request<'_>) -> Result<bool, RpcError> {
    match request.level().as_deref() {
        Some("debug" | "info" | "notice") => Ok(true),
        Some("warning" | "error" | "critical" | "alert" | "emergency") => Ok(false),
        _ => {
            let what = "`level` must be one of debug, info, notice, warning, error, critical, alert, emergency";
            Err(RpcError::new(code::INVALID_PARAMS, what))
        }
    }
}

fn no_such_method(method: &str) -> RpcError {
    let what = format!("Method not found: {}", clipped(method, 64));
    RpcError::new(code::METHOD_NOT_FOUND, what)
}
