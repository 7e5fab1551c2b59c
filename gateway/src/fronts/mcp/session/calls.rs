//! Calls of tools in a session: each is made by the stream that answers it.

#![expect(
    deprecated,
    reason = "logging goes with MCP's sessions, which have it up to 2025-11-25"
)]

use std::sync::Arc;

use axum::http::HeaderName;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use rmcp::model::{
    CallToolRequestParams, LoggingLevel, LoggingMessageNotificationParam, Notification, RequestId,
    ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::exchanges::{NotEntered, id_in_use};
use super::state::Session;
use crate::fronts::mcp::call::{Calling, Ended, Said, ToolCall};
use crate::gateway::Hub;
use crate::gateway::calls::Call;
use crate::wire::abp::CALL_ENDED;
use crate::wire::stops;

/// What the messages of late ends are logged as.
const LOGGER: &str = "caphost";
/// Asks a proxy to pass on each event as it comes.
const UNBUFFERED: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

/// The answer to a call of a tool. None if the session has ended.
pub fn call_tool(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    id: RequestId,
    params: Result<CallToolRequestParams, Ended>,
) -> Option<Response> {
    let answer = match session.enter(&id) {
        Err(NotEntered::Gone) => return None,
        Err(NotEntered::Cancelled) => None,
        Err(NotEntered::InFlight) => Some(Answer::Ended(id_in_use(&id))),
        Ok((own, cancelled)) => {
            let session = session.clone();
            let entered = Entered {
                session,
                own,
                cancelled,
            };
            Some(begin(hub, id, params, entered))
        }
    };
    let messages = stream::unfold(answer, |answer| async { answer?.next().await });
    let events = messages.map(|message| Event::default().json_data(message));
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Some(([UNBUFFERED], events).into_response())
}

fn begin(
    hub: &Arc<Hub>,
    id: RequestId,
    params: Result<CallToolRequestParams, Ended>,
    entered: Entered,
) -> Answer {
    let session = &entered.session;
    let found = params.and_then(|params| ToolCall::find(hub, &session.caller, params));
    match found {
        Err(ended) => Answer::Ended(message(id, ended)),
        Ok(tool) => {
            let page = session.page(hub);
            let calling = tool.make(id.to_string(), Some(&session.thread), |new| page.call(new));
            session.started(entered.own, calling.canceller());
            let calling = Some(calling);
            Answer::Underway(Underway {
                id,
                entered,
                calling,
            })
        }
    }
}

/// What is still to be said in answer to a request.
enum Answer {
    Underway(Underway),
    Ended(ServerJsonRpcMessage),
}

impl Answer {
    async fn next(self) -> Option<(ServerJsonRpcMessage, Option<Answer>)> {
        match self {
            Answer::Underway(underway) => underway.next().await,
            Answer::Ended(message) => Some((message, None)),
        }
    }
}

/// A call's place among the requests in flight. Dropped, it is cancelled unless it is over.
struct Entered {
    session: Arc<Session>,
    /// The session's own id of it.
    own: i64,
    /// Cancelled when nobody waits for its answer any more.
    cancelled: CancellationToken,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.session.abandon(self.own);
    }
}

/// A call that is not answered yet. Dropped, it is cancelled, as its [`Entered`] is.
struct Underway {
    id: RequestId,
    entered: Entered,
    calling: Option<Calling>,
}

impl Underway {
    async fn next(mut self) -> Option<(ServerJsonRpcMessage, Option<Answer>)> {
        let calling = self.calling.as_mut()?;
        let said = tokio::select! {
            biased;
            // Nobody waits for the answer any more.
            () = self.entered.cancelled.cancelled() => return None,
            said = calling.next() => said,
        };
        match said {
            Said::Progress(progress) => {
                let progress = Notification::new(progress);
                let progress = ServerNotification::ProgressNotification(progress);
                let progress = ServerJsonRpcMessage::notification(progress);
                Some((progress, Some(Answer::Underway(self))))
            }
            Said::Ended(ended, stop) => {
                // The id may be used again as soon as the client has read this.
                self.entered.session.over(self.entered.own);
                let left = self.calling.take().and_then(|it| it.left_behind(stop));
                if let Some(call) = left {
                    let session = self.entered.session.clone();
                    tokio::spawn(tell(session, self.id.clone(), call));
                }
                Some((message(self.id.clone(), ended), None))
            }
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let Some(calling) = self.calling.take() else {
            return;
        };
        // How it ends is for the record, and told if that takes long.
        let (session, id) = (self.entered.session.clone(), self.id.clone());
        tokio::spawn(async move {
            if let Some(call) = calling.abandoned().await {
                tell(session, id, call).await;
            }
        });
    }
}

fn message(id: RequestId, ended: Ended) -> ServerJsonRpcMessage {
    match ended {
        Ok(result) => {
            let mut result = ServerResult::CallToolResult(result);
            result.strip_result_type_for_legacy_peer();
            ServerJsonRpcMessage::response(result, id)
        }
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}

/// Waits for the late end of a call that was abandoned, and tells its client of it as a log message,
/// unless the session ends before.
async fn tell(session: Arc<Session>, request_id: RequestId, call: Call) {
    let call_id = call.call_id().to_string();
    let late = tokio::select! {
        () = session.ended.cancelled() => None,
        late = call.late_end() => late,
    };
    let Some(end) = late.filter(|_| session.log_level.wants(LoggingLevel::Notice)) else {
        return;
    };
    let mut data = stops::ended_json(end);
    data["event"] = CALL_ENDED.into();
    data["callId"] = call_id.into();
    data["requestId"] = json!(request_id);
    let message =
        LoggingMessageNotificationParam::new(LoggingLevel::Notice, data).with_logger(LOGGER);
    let message = Notification::new(message);
    let message = ServerNotification::LoggingMessageNotification(message);
    session
        .send(ServerJsonRpcMessage::notification(message))
        .await;
}
