//! One call of a tool, from `tools/call` to the end of its response, which makes the call.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::listening::{Source, events, whole};
use super::request::Request;
use super::result::Ended;
use super::session::{Caller, NotTaken, Session};
use super::{result, tools};
use crate::broker::Offer;
use crate::fronts::kept::keep;
use crate::fronts::shared_sessions::InUse;
use crate::fronts::shares::Share;
use crate::gateway::Hub;
use crate::gateway::calls::{Call, Canceller, NewCall, Outcome, Step};
use crate::wire::abp::CALL_ENDED;
use crate::wire::json_rpc::{Id, RpcError, code, notification, success};
use crate::wire::{Json, stops};
use caphost::call::Stop;

/// The response to a call that ends sooner is a whole. Later its head is sent, as a client may give up
/// on a server that sends none, and cannot tell one that works from one that is gone.
const PROMPT: Duration = Duration::from_millis(10);

/// Messages of one call that its client has not read: progress, and its answer.
const UNREAD: usize = 16;

/// Answers a call in a session.
pub async fn in_session(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    request: Request<'_>,
    share: Share,
) -> Result<Response, NotTaken> {
    let tool = match Tool::find(hub, &session.caller, session.app(hub), &request) {
        Ok(tool) => tool,
        Err(ended) => {
            session.take(&request.id)?;
            return Ok(whole(Some(&answer(&request.id, ended))));
        }
    };
    let id = request.id;
    let thread = Some(session.thread.to_string());
    let begun = session.begin(hub, &id, |page| {
        let calling = tool.call(&id, thread, |new| page.call(new));
        let canceller = calling.canceller();
        (calling, canceller)
    });
    let (number, given_up, calling) = begun?;
    let underway = Underway {
        id,
        member: Some(Member {
            session: session.clone(),
            number,
            given_up,
        }),
        calling: Some(calling),
    };
    Ok(underway.respond(share).await)
}

/// Answers a call without a session, which is made in the session of the app that its caller's share.
pub async fn alone(
    hub: &Arc<Hub>,
    caller: &Caller,
    in_use: impl FnOnce() -> InUse,
    request: Request<'_>,
    share: Share,
) -> Response {
    let tool = match Tool::find(hub, caller, caller.app.as_deref(), &request) {
        Ok(tool) => tool,
        Err(ended) => return whole(Some(&answer(&request.id, ended.map(complete)))),
    };
    let (id, in_use) = (request.id, in_use());
    let mut calling = tool.call(&id, None, |new| in_use.call(new));
    calling.in_use = Some(in_use);
    let underway = Underway {
        id,
        member: None,
        calling: Some(calling),
    };
    underway.respond(share).await
}

/// A result as it is since there are no sessions.
pub fn complete(mut result: Value) -> Value {
    result["resultType"] = "complete".into();
    result
}

/// The answer to a request, as text.
pub fn answer(id: &Id, ended: Ended) -> String {
    let answer = match ended {
        Ok(result) => success(id.value(), &result),
        Err(error) => error.answer(id.value()),
    };
    answer.to_string()
}

/// A tool that may be called, with what it is called with.
struct Tool {
    offer: Arc<Offer>,
    name: String,
    arguments: Json,
    progress: Option<Progress>,
}

impl Tool {
    /// Looks for the tool that the client means. The error is how the call ends without it.
    fn find(
        hub: &Hub,
        caller: &Caller,
        app: Option<&str>,
        request: &Request<'_>,
    ) -> Result<Self, Ended> {
        let (Some(name), Ok(arguments)) = (request.name(), request.arguments()) else {
            let message = "The parameters are not those of tools/call";
            return Err(Err(RpcError::new(code::INVALID_PARAMS, message)));
        };
        let offer = tools::offer(hub, caller, app)?;
        let capability = tools::find(&offer.capabilities, &name).map_err(Err)?;
        Ok(Tool {
            name: capability.name.clone(),
            arguments: arguments.to_string().into(),
            progress: request.progress_token().cloned().map(Progress::new),
            offer,
        })
    }

    /// Calls it, in the thread named, as `make` does it.
    fn call(self, id: &Id, thread: Option<String>, make: impl FnOnce(NewCall) -> Call) -> Calling {
        let call = make(NewCall {
            capability: self.name.clone(),
            params: Some(self.arguments),
            dialect_id: Some(id.plain()),
            thread,
            progress: self.progress.is_some(),
            ..NewCall::default()
        });
        Calling {
            call,
            offer: self.offer,
            name: self.name,
            progress: self.progress,
            in_use: None,
        }
    }
}

/// A call being made.
struct Calling {
    call: Call,
    offer: Arc<Offer>,
    name: String,
    progress: Option<Progress>,
    /// Keeps the session of the app that it is made in, if that is shared.
    in_use: Option<InUse>,
}

/// What a call says.
enum Said {
    /// How far it is, if the client wants to know.
    Progress(Value),
    /// How it ended: nothing follows. How far its stop was seen, if it was cancelled.
    Ended(Ended, Option<Stop>),
}

impl Calling {
    /// What cancels it.
    fn canceller(&self) -> Canceller {
        self.call.canceller()
    }

    /// What it says next. Safe to drop and to call again.
    async fn next(&mut self, id: &Id) -> Said {
        loop {
            match self.call.next().await {
                Step::Progress(info) => {
                    let progress = self.progress.as_mut();
                    if let Some(said) = progress.and_then(|progress| progress.read(&info)) {
                        return Said::Progress(said);
                    }
                }
                Step::Ended(outcome) => return self.ended(id, outcome),
            }
        }
    }

    /// Waits for the end of a call whose caller waits no longer.
    async fn abandoned(&mut self, id: &Id) -> Option<Stop> {
        loop {
            if let Said::Ended(_, stop) = self.next(id).await {
                return stop;
            }
        }
    }

    fn ended(&self, id: &Id, outcome: Outcome) -> Said {
        let run = self.call.id;
        match outcome {
            Outcome::Done { data, metadata } => {
                let result = result::done(data, metadata, || self.promises(), run);
                Said::Ended(Ok(result), None)
            }
            Outcome::Failed(error) => Said::Ended(Ok(result::failed(&error, Some(run))), None),
            Outcome::Cancelled { stop, by, .. } => {
                let error = result::cancelled(&self.name, id, stop, by);
                Said::Ended(Err(error), Some(stop))
            }
        }
    }

    /// Whether its tool has an output schema.
    fn promises(&self) -> bool {
        let mut capabilities = self.offer.capabilities.iter();
        let tool = capabilities.find(|it| it.name == self.name);
        tool.is_some_and(tools::promises)
    }
}

/// The place of a call in its session.
struct Member {
    session: Arc<Session>,
    number: u64,
    /// Ends when the client gives the call up.
    given_up: oneshot::Receiver<()>,
}

/// A call that is not answered yet. Dropped, it is cancelled.
struct Underway {
    id: Id,
    /// None without a session.
    member: Option<Member>,
    /// None once it is answered.
    calling: Option<Calling>,
}

impl Underway {
    /// The response. It is read as slowly as its client likes: the call does not wait for that.
    async fn respond(mut self, share: Share) -> Response {
        let first = match timeout(PROMPT, self.next()).await {
            Ok(None) => return whole(None),
            Ok(Some(answer)) if self.calling.is_none() => {
                // It is open until it is written.
                return whole(Some(&answer)).map(|body| keep(body, share));
            }
            Ok(Some(progress)) => Some(progress),
            Err(_) => None,
        };
        let (sender, receiver) = mpsc::channel(UNREAD);
        tokio::spawn(self.see_through(sender));
        events(first, receiver, share)
    }

    /// Goes on until the call is answered, or its response is closed.
    async fn see_through(mut self, sender: mpsc::Sender<String>) {
        loop {
            let message = tokio::select! {
                biased;
                () = sender.closed() => return,
                message = self.next() => message,
            };
            let Some(message) = message else {
                return;
            };
            // There is room for the answer. Progress that nobody reads makes way for what comes next.
            if self.calling.is_none() || sender.capacity() > 1 {
                let _ = sender.try_send(message);
            }
        }
    }
}

impl Source for Underway {
    async fn next(&mut self) -> Option<String> {
        let calling = self.calling.as_mut()?;
        let said = match &mut self.member {
            None => calling.next(&self.id).await,
            Some(member) => tokio::select! {
                biased;
                _ = &mut member.given_up => return None,
                said = calling.next(&self.id) => said,
            },
        };
        let (ended, stop) = match said {
            Said::Progress(params) => {
                return Some(notification("notifications/progress", &params).to_string());
            }
            Said::Ended(ended, stop) => (ended, stop),
        };
        let calling = self.calling.take()?;
        let Some(Member {
            session, number, ..
        }) = &self.member
        else {
            return Some(answer(&self.id, ended.map(complete)));
        };
        // The id may be used again as soon as the client has read this.
        session.over(&self.id, *number);
        if stop == Some(Stop::Abandoned) {
            let (session, id) = (session.clone(), self.id.clone());
            tokio::spawn(tell_late_end(session, id, calling.call));
        }
        Some(answer(&self.id, ended))
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let Some(mut calling) = self.calling.take() else {
            return;
        };
        let member = self.member.take();
        // Its client may have cancelled it before, and said why.
        let is_awaited = member
            .as_ref()
            .is_none_or(|it| it.session.over(&self.id, it.number));
        if is_awaited {
            let reason = "The response stream was closed";
            drop(calling.canceller().cancel(Some(reason.into())));
        }
        // How it ends is for the record, and told if that takes long.
        let id = self.id.clone();
        tokio::spawn(async move {
            let stop = calling.abandoned(&id).await;
            if let (Some(member), Some(Stop::Abandoned)) = (member, stop) {
                tell_late_end(member.session, id, calling.call).await;
            }
        });
    }
}

/// Waits for the late end of a call that was abandoned, and tells its client of it as a log message,
/// unless the session ends before.
async fn tell_late_end(session: Arc<Session>, id: Id, call: Call) {
    let call_id = call.call_id().to_string();
    let late = tokio::select! {
        () = session.ended.cancelled() => None,
        late = call.late_end() => late,
    };
    if let Some(end) = late {
        session.notice(|| {
            let mut data = stops::ended_json(end);
            data["event"] = CALL_ENDED.into();
            data["callId"] = call_id.into();
            data["requestId"] = id.value().clone();
            let params = json!({ "level": "notice", "logger": "caphost", "data": data });
            notification("notifications/message", &params).to_string()
        });
    }
}

/// Turns the `ProgressInfo`s of one call into notifications for its token.
#[derive(Debug)]
pub struct Progress {
    token: Value,
    last: Option<f64>,
}

impl Progress {
    /// Of a call that has not said anything yet.
    pub fn new(token: Value) -> Self {
        Progress { token, last: None }
    }

    /// What to say of `info`: nothing if it is no news, for in MCP progress must increase.
    pub fn read(&mut self, info: &Value) -> Option<Value> {
        let (progress, total) = match info["progress"].as_f64() {
            Some(progress) => (progress, info["total"].as_f64()),
            None => (info["percentage"].as_f64()?, Some(100.0)),
        };
        if self.last.is_some_and(|last| progress <= last) {
            return None;
        }
        self.last = Some(progress);
        let mut said = json!({ "progressToken": self.token, "progress": progress });
        if let Some(total) = total {
            said["total"] = total.into();
        }
        let text = |key: &str| info[key].as_str();
        if let Some(message) = text("status").or_else(|| text("stage")) {
            said["message"] = message.into();
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(infos: &[Value]) -> Vec<Value> {
        let mut progress = Progress::new(json!(0));
        let said = infos.iter().filter_map(|info| progress.read(info));
        said.collect()
    }

    #[test]
    fn progress_keeps_its_scale_and_its_words() {
        let said = read(&[
            json!({ "operationId": "x", "progress": 1, "total": 4, "status": "layout: 1 of 4", "stage": "layout" }),
            json!({ "progress": 2.5, "stage": "write" }),
            json!({ "percentage": 75 }),
        ]);
        assert_eq!(
            said,
            [
                json!({ "progressToken": 0, "progress": 1.0, "total": 4.0, "message": "layout: 1 of 4" }),
                json!({ "progressToken": 0, "progress": 2.5, "message": "write" }),
                json!({ "progressToken": 0, "progress": 75.0, "total": 100.0 }),
            ]
        );
    }

    #[test]
    fn what_does_not_increase_is_not_said() {
        let said = read(&[
            json!({ "progress": 5 }),
            json!({ "progress": 5, "status": "still" }),
            json!({ "progress": 4 }),
            json!({ "progress": "6" }),
            json!(null),
            json!({ "progress": 6 }),
        ]);
        assert_eq!(said.len(), 2);
    }
}
