//! A call that is not answered yet: its response, and who waits for it.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use futures_util::stream;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::head::Accepted;
use super::progress::Progress;
use super::reply::{events, whole};
use super::result::{self, Ended, ToolResult, answer};
use super::session::McpSession;
use super::tools;
use crate::bounds::shares::Share;
use crate::broker::Offer;
use crate::broker::runs::RunId;
use crate::fronts::kept::keep;
use crate::fronts::shared_sessions::InUse;
use crate::gateway::calls::Call;
use crate::gateway::{Outcome, Step};
use crate::wire::abp::CALL_ENDED;
use crate::wire::json_rpc::{Id, notification};
use crate::wire::stops;
use caphost::call::Stop;
use caphost::dialect::mcp::Version;

/// A call that ends sooner, and has no progress before, is answered in one piece. After that the head of a stream
/// is sent: a client may give up on a server that sends nothing, as it cannot tell one that works from one that
/// is gone. Clients wait for a head for at least 30 s.
const IN_ONE_PIECE: Duration = Duration::from_secs(10);
/// The same where the answer is part of a stream in any case.
const PROMPT: Duration = Duration::from_millis(10);

/// Messages of one call that its client has not read: progress, and its answer.
const UNREAD: usize = 16;

/// The tool that a call means.
pub struct Tool {
    pub offer: Arc<Offer>,
    pub name: String,
    /// What the client is told of progress, if it wants to know.
    pub progress: Option<Progress>,
    /// What the client can read.
    pub version: &'static Version,
}

impl Tool {
    /// How the request with that id ends, as the call did.
    pub fn ended(&self, id: &Id, run: RunId, outcome: Outcome) -> Ended {
        match outcome {
            Outcome::Done { data, metadata } => {
                let promised = || self.promises();
                Ok(result::done(data, metadata, promised, self.version, run))
            }
            Outcome::Failed(error) => Ok(result::failed(&error, Some(run))),
            Outcome::Cancelled { stop, by, .. } => Err(result::cancelled(&self.name, id, stop, by)),
        }
    }

    /// Whether the client is told an output schema of it.
    fn promises(&self) -> bool {
        self.version.structure && self.offer.keeps_promise(&self.name, tools::promises)
    }
}

/// A call whose answer its client waits for, or none once that is answered. If it is dropped before, the call
/// is cancelled.
pub struct Underway(Option<Awaited>);

struct Awaited {
    id: Id,
    tool: Tool,
    call: Call,
    within: Within,
}

/// What a call is made in.
pub enum Within {
    /// A session of MCP.
    Session {
        session: Arc<McpSession>,
        /// Ends when the client cancels the call: it is not answered then.
        given_up: oneshot::Receiver<()>,
    },
    /// A session of the app that those without one share, and which is kept as long as the call.
    Shared { _in_use: InUse },
}

impl Underway {
    /// The answer to the request with that id is that of `call`, which calls `tool`.
    pub fn new(id: Id, tool: Tool, call: Call, within: Within) -> Self {
        Underway(Some(Awaited {
            id,
            tool,
            call,
            within,
        }))
    }

    /// The response. It is read as slowly as its client likes: the call does not wait for that.
    pub async fn respond(mut self, share: Share, accepted: Accepted) -> Response {
        let patience = match accepted {
            Accepted { events: false, .. } => Duration::MAX,
            Accepted { json: true, .. } => IN_ONE_PIECE,
            _ => PROMPT,
        };
        let first = loop {
            match timeout(patience, self.next()).await {
                Ok(None) => return whole(None, accepted),
                Ok(Some(answer)) if self.0.is_none() => {
                    // It is open until it is written.
                    return whole(Some(&answer), accepted).map(|body| keep(body, share));
                }
                Ok(Some(progress)) if accepted.events => break Some(progress),
                // There is no place for it.
                Ok(Some(_)) => {}
                Err(_) => break None,
            }
        };
        let (sender, mut receiver) = mpsc::channel(UNREAD);
        tokio::spawn(self.see_through(sender));
        let messages = stream::poll_fn(move |context| receiver.poll_recv(context));
        events(first, messages, share)
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
            if self.0.is_none() || sender.capacity() > 1 {
                let _ = sender.try_send(message);
            }
        }
    }

    /// The next message: its progress, or its answer. None if there will be no answer, or there was one. Safe
    /// to drop and to call again.
    async fn next(&mut self) -> Option<String> {
        loop {
            let it = self.0.as_mut()?;
            let step = match &mut it.within {
                Within::Shared { .. } => it.call.next().await,
                Within::Session { given_up, .. } => tokio::select! {
                    biased;
                    _ = given_up => return None,
                    step = it.call.next() => step,
                },
            };
            match step {
                Step::Progress(info) => {
                    let progress = it.tool.progress.as_mut();
                    if let Some(params) = progress.and_then(|it| it.read(&info)) {
                        return Some(notification("notifications/progress", params).to_string());
                    }
                }
                Step::Ended(outcome) => return Some(self.0.take()?.answer(outcome)),
            }
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let Some(awaited) = self.0.take() {
            awaited.give_up();
        }
    }
}

impl Awaited {
    fn answer(self, outcome: Outcome) -> String {
        let is_abandoned = is_abandoned(&outcome);
        let ended = self.tool.ended(&self.id, self.call.id, outcome);
        let Within::Session { session, .. } = self.within else {
            return answer(&self.id, ended.map(ToolResult::complete));
        };
        // The id may be used again as soon as the client has read this.
        session.over(&self.id, self.call.id);
        let answer = answer(&self.id, ended);
        if is_abandoned {
            tokio::spawn(tell_late_end(session, self.id, self.call));
        }
        answer
    }

    /// Nobody waits for the answer any more.
    fn give_up(mut self) {
        // Its client may have cancelled it before, and said why.
        let is_cancelled = match &self.within {
            Within::Session { session, .. } => !session.over(&self.id, self.call.id),
            Within::Shared { .. } => false,
        };
        if !is_cancelled {
            let reason = "The response stream was closed";
            self.call.canceller().cancel(Some(reason.into()));
        }
        // How it ends is for the record, and told if that takes long.
        tokio::spawn(async move {
            let outcome = loop {
                if let Step::Ended(outcome) = self.call.next().await {
                    break outcome;
                }
            };
            if let (Within::Session { session, .. }, true) = (self.within, is_abandoned(&outcome)) {
                tell_late_end(session, self.id, self.call).await;
            }
        });
    }
}

fn is_abandoned(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Cancelled { stop, .. } if *stop == Stop::Abandoned)
}

/// Waits for the late end of a call that was abandoned, and tells its client of it as a log message,
/// unless the session ends before.
async fn tell_late_end(session: Arc<McpSession>, id: Id, call: Call) {
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
            notification("notifications/message", params).to_string()
        });
    }
}
