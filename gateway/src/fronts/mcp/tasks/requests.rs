//! The answers to requests that make tasks and ask for them.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use futures_util::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::call;
use super::super::caller::Caller;
use super::super::head::Accepted;
use super::super::links::Links;
use super::super::reply::{awaited, events, whole};
use super::super::request::Request;
use super::super::resources::InSession;
use super::super::result::{answer, complete};
use super::super::server::{Asker, Mcp};
use super::super::session::{McpSession, NotTaken};
use super::terms::TASKS;
use super::waiting::messages;
use super::{Task, Work};
use crate::fronts::refusal::Refusal;
use crate::gateway::calls::NewCall;
use crate::wire::error_json;
use crate::wire::json_rpc::{Id, RpcError, code};
use caphost::call::{Code, Error};

/// The code of an error that names capabilities which the client has not declared.
const MISSING_CAPABILITY: i32 = -32021;

/// An answer, or why the session does not take its request.
type Answered = Result<Result<Response, NotTaken>, Refusal>;

impl Mcp {
    /// Whether that request of a session makes a task, or is about tasks.
    pub(in super::super) fn is_of_tasks(&self, method: &str, request: &Request<'_>) -> bool {
        match method {
            "tools/call" => !matches!(request.task(), Ok(None)),
            "tasks/get" | "tasks/result" | "tasks/cancel" => true,
            "tasks/list" => self.tasks.are_listed(),
            _ => false,
        }
    }

    /// Answers a request of a session that makes a task, or is about tasks.
    pub(in super::super) async fn task_in_session(
        &self,
        asker: &Asker,
        session: Arc<McpSession>,
        request: Request<'_>,
        accepted: Accepted,
    ) -> Answered {
        if request.method == "tasks/result" {
            return self.task_result(asker, session, request, accepted);
        }
        if let Err(not_taken) = session.take(&request.id) {
            return Ok(Err(not_taken));
        }
        let owner = &session.caller.identity;
        let version = session.version;
        let found = || self.tasks.find(request.task_id().as_deref(), owner);
        let ended = match &*request.method {
            "tools/call" => match request.task() {
                Ok(ttl) => {
                    let task = self.create_task(asker, &session, &request, ttl.flatten());
                    task.map(|task| json!({ "task": task.json(version) }))
                }
                Err(error) => Err(error),
            },
            "tasks/get" => found().map(|task| task.json(version)),
            "tasks/cancel" => match found() {
                Ok(task) => match task.end() {
                    Some(end) => Err(RpcError::new(
                        code::INVALID_PARAMS,
                        format!(
                            "Cannot cancel task: already in terminal status '{}'",
                            end.status(version.sessions)
                        ),
                    )),
                    None => {
                        task.cancel().await;
                        Ok(task.json(version))
                    }
                },
                Err(error) => Err(error),
            },
            _ if request.has_cursor() => Err(RpcError::new(
                code::INVALID_PARAMS,
                "Invalid cursor: all tasks are on the first page",
            )),
            _ => {
                let tasks = self.tasks.all_of(owner);
                let tasks = tasks.iter().map(|task| task.json(version));
                Ok(json!({ "tasks": tasks.collect::<Vec<_>>() }))
            }
        };
        Ok(Ok(whole(Some(&answer(&request.id, ended)), accepted)))
    }

    /// Makes the call of a request, which is a task from the beginning.
    fn create_task(
        &self,
        asker: &Asker,
        session: &Arc<McpSession>,
        request: &Request<'_>,
        ttl: Option<Duration>,
    ) -> Result<Arc<Task>, RpcError> {
        let (caller, version) = (&session.caller, session.version);
        // The links outlive the session too.
        let links: Links = self.links(asker, version, None);
        let found = call::find(&self.hub, caller, request, (version, links));
        let (tool, call) = found.map_err(|ended| match ended {
            Ok(failed) => RpcError::of_abp(code::FAILED, failed.error()),
            Err(error) => error,
        })?;
        let place = self.tasks.place(&caller.identity, &asker.quota_key);
        let place = place.map_err(|full| {
            let what = format!("No further task can begin: {full}");
            let error = Error::<Value>::new(Code::RATE_LIMITED, what);
            RpcError::of_abp(code::FAILED, &error_json(&error))
        })?;
        // The session of the app is not the client's, because the task outlives that.
        let sessions = match session.takes_forms {
            true => &self.asked,
            false => &self.shared,
        };
        let in_use = sessions.session(&caller.identity, Some(tool.app(caller)), None);
        let call = in_use.call(NewCall {
            thread: Some(session.number.to_string()),
            progress: true,
            ..call
        });
        let work = Work {
            id: request.id.clone(),
            tool,
            call,
            in_use,
            takes_questions: session.takes_forms,
            session: Some(session.clone()),
        };
        Ok(self.tasks.begin(place, ttl, work))
    }

    /// Answers a request for the result of a task, which waits for the end of the task.
    fn task_result(
        &self,
        asker: &Asker,
        session: Arc<McpSession>,
        request: Request<'_>,
        accepted: Accepted,
    ) -> Answered {
        let share = self.share(asker)?;
        let id = request.id.clone();
        let begun = match session.begin_reading(&id) {
            Ok(begun) => begun,
            Err(not_taken) => return Ok(Err(not_taken)),
        };
        let owner = session.caller.identity.clone();
        let asks = session.takes_forms && accepted.events;
        let within = InSession { session, begun };
        let task = match self.tasks.find(request.task_id().as_deref(), &owner) {
            Ok(task) => task,
            Err(error) => {
                let refused = Err::<Value, _>(error);
                return Ok(Ok(whole(Some(&answer(&id, refused)), accepted)));
            }
        };
        if let Some(end) = task.end() {
            let answer = answer(&id, end.answer(task.id));
            return Ok(Ok(whole(Some(&answer), accepted)));
        }
        // Only a stream can ask questions.
        let as_event = accepted.events && (asks || !accepted.json);
        let most = accepted.event_bytes.filter(|_| as_event);
        let mut messages = messages(id.clone(), task, within, asks, most);
        Ok(Ok(match as_event {
            true => events(None, messages, share),
            false => {
                let answer = async move { messages.next().await.unwrap_or_else(|| given_up(&id)) };
                awaited(answer.boxed(), share)
            }
        }))
    }

    /// Answers a request about a task, without a session.
    pub(in super::super) async fn task_alone(
        &self,
        caller: &Caller,
        request: &Request<'_>,
        accepted: Accepted,
    ) -> Result<Response, Refusal> {
        if !request.takes_tasks() {
            return Err(missing_capability());
        }
        let found = self
            .tasks
            .find(request.task_id().as_deref(), &caller.identity);
        let id = &request.id;
        let task = match found {
            Ok(task) => task,
            Err(error) => return Ok(said(id, Err::<Value, _>(error), accepted)),
        };
        Ok(match &*request.method {
            "tasks/get" => {
                let detailed = task.detailed().with("resultType", "complete".into());
                said(id, Ok(detailed), accepted)
            }
            "tasks/update" => {
                let answers = request.answers();
                let ended = answers.map(|answers| {
                    task.answer_each(&answers);
                    complete(json!({}))
                });
                said(id, ended, accepted)
            }
            _ => {
                if task.end().is_none() {
                    task.cancel().await;
                }
                said(id, Ok(complete(json!({}))), accepted)
            }
        })
    }

    /// The tasks that a subscription is to tell of. `None` if it asks for none.
    pub(in super::super) fn tasks_to_hear(
        &self,
        caller: &Caller,
        request: &Request<'_>,
    ) -> Result<Option<Vec<Arc<Task>>>, Refusal> {
        let ids = request.wanted_tasks();
        if ids.is_empty() {
            return Ok(None);
        }
        if !request.takes_tasks() {
            return Err(missing_capability());
        }
        let found = ids
            .iter()
            .map(|id| self.tasks.find(Some(id), &caller.identity));
        Ok(Some(found.filter_map(Result::ok).collect()))
    }
}

/// The answer to that request, as a response.
fn said<R: Serialize>(id: &Id, ended: Result<R, RpcError>, accepted: Accepted) -> Response {
    whole(Some(&answer(id, ended)), accepted)
}

/// JSON that has begun has to end, although the client does not wait any more.
fn given_up(id: &Id) -> String {
    let error = RpcError::new(code::CANCELLED, "The client has cancelled the request");
    answer(id, Err::<Value, _>(error))
}

/// 400: the client has not declared that it takes tasks.
fn missing_capability() -> Refusal {
    let what = format!("The client must declare the extension {TASKS}");
    let mut error = Error::new(Code::INVALID_PARAMS, what);
    let missing = json!({ "requiredCapabilities": { "extensions": { TASKS: {} } } });
    error.details = Some(Box::new(missing));
    Refusal::new(StatusCode::BAD_REQUEST, error).with_rpc_code(MISSING_CAPABILITY)
}
