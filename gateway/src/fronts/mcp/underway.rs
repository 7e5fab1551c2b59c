//! A call that is not answered yet: its response, and who waits for it.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::calling::{Calling, Said};
use super::listening::{Source, events, whole};
use super::result::{ToolResult, answer};
use super::session::Session;
use crate::fronts::kept::keep;
use crate::fronts::shares::Share;
use crate::gateway::calls::Call;
use crate::wire::abp::CALL_ENDED;
use crate::wire::json_rpc::{Id, notification};
use crate::wire::stops;
use caphost::call::Stop;

/// The response to a call that ends sooner is a whole. Later its head is sent, as a client may give up
/// on a server that sends none, and cannot tell one that works from one that is gone.
const PROMPT: Duration = Duration::from_millis(10);

/// Messages of one call that its client has not read: progress, and its answer.
const UNREAD: usize = 16;

/// The place of a call in its session.
pub struct Member {
    pub session: Arc<Session>,
    pub number: u64,
    /// Ends when the client gives the call up.
    pub given_up: oneshot::Receiver<()>,
}

/// A call that is not answered yet. Dropped, it is cancelled.
pub struct Underway {
    pub id: Id,
    /// None without a session.
    pub member: Option<Member>,
    /// None once it is answered.
    pub calling: Option<Calling>,
}

impl Underway {
    /// The response. It is read as slowly as its client likes: the call does not wait for that.
    pub async fn respond(mut self, share: Share) -> Response {
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
                return Some(notification("notifications/progress", params).to_string());
            }
            Said::Ended(ended, stop) => (ended, stop),
        };
        let calling = self.calling.take()?;
        let Some(Member {
            session, number, ..
        }) = &self.member
        else {
            return Some(answer(&self.id, ended.map(ToolResult::complete)));
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
            notification("notifications/message", params).to_string()
        });
    }
}
