//! Sessions that several workers have: whichever a message comes to takes the session up.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use rmcp::model::{InitializeRequestParams, RequestId};
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::record::Record;
use super::registry::{Manager, Sessions};
use super::state::Session;
use super::transport::Wire;
use crate::cluster::{Away, Notice, Workers};
use crate::fronts::mcp::caller::Caller;
use crate::fronts::mcp::handler::Handler;

/// Between two looks at which sessions are in use, at the longest.
const LONGEST_TICK: Duration = Duration::from_secs(60);
/// And at the shortest.
const SHORTEST_TICK: Duration = Duration::from_millis(10);
/// What is kept of a session that has ended.
const ENDED: &[u8] = b"";

/// Why a session is not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// Redis does not answer: there may be such a session.
    Away,
    /// This worker has as many as it may have.
    NoRoom,
}

/// Does what the other workers tell, and lets them know which sessions are in use, as long as there
/// are sessions.
pub async fn keep(
    sessions: Weak<Sessions>,
    told: Arc<Mutex<UnboundedReceiver<Notice>>>,
) -> ControlFlow<()> {
    let mut told = told.lock().await;
    let Some(tick) = sessions.upgrade().map(|sessions| sessions.tick()) else {
        return ControlFlow::Break(());
    };
    let mut ticks = interval(tick);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let notice = tokio::select! {
            notice = told.recv() => notice,
            _ = ticks.tick() => None,
        };
        let Some(sessions) = sessions.upgrade() else {
            return ControlFlow::Break(());
        };
        match notice {
            Some(notice) => sessions.obey(notice),
            None => drop(tokio::spawn(async move { sessions.keep_used().await })),
        }
    }
}

impl Sessions {
    /// Takes up the session with that id if it is the caller's, and is not here. Whether it is here
    /// now, [`Sessions::find`] tells.
    pub async fn take_up(
        self: &Arc<Self>,
        id: &str,
        caller: &Caller,
        handler: impl FnOnce() -> Handler,
    ) -> Result<(), NotTaken> {
        let Some(workers) = self.hub.workers() else {
            return Ok(());
        };
        if Uuid::try_parse(id).is_err() || self.all().has(id) {
            return Ok(());
        }
        let known = workers.fact(&name(id)).await;
        let known = known.map_err(|Away| NotTaken::Away)?;
        let read = |json: Vec<u8>| Some((Record::read(&json)?, json));
        let theirs = |(record, _): &(Record, Vec<u8>)| record.caller == *caller;
        let Some((record, json)) = known.and_then(read).filter(theirs) else {
            return Ok(());
        };
        if !self.make_room(&caller.identity) {
            return Err(NotTaken::NoRoom);
        }
        let handler = handler();
        let log_level = handler.log_level.clone();
        let (session, inbound) =
            Session::new(record.caller, record.thread, self.idle, log_level.clone());
        let _ = session.record.set(json);
        let answer = session.resume(record.params);
        let id: SessionId = id.into();
        if !self.all().take_up(&id, &session) {
            return Ok(());
        }
        tracing::debug!(session = %session.thread, "taken up");
        let manager = Manager {
            sessions: self.clone(),
            caller: caller.clone(),
            log_level,
        };
        let wire = Wire::new(session, inbound);
        tokio::spawn(async move {
            match rmcp::serve_server(handler, wire).await {
                Ok(running) => drop(running.waiting().await),
                Err(error) => tracing::warn!(%error, "a session could not be taken up"),
            }
            let _ = manager.close_session(&id).await;
        });
        // It was answered where the session began.
        tokio::spawn(async move {
            if let Some(mut answer) = answer {
                answer.next().await;
            }
        });
        Ok(())
    }

    /// A session has begun: others may take it up from now on.
    pub(super) async fn begun(
        &self,
        id: &str,
        session: &Session,
        params: &InitializeRequestParams,
    ) {
        let Some(workers) = self.hub.workers() else {
            return;
        };
        let Some(json) = Record::write(&session.caller, &session.thread, params) else {
            return;
        };
        let told = workers.set_fact(&name(id), &json, self.kept_for()).await;
        let _ = session.record.set(json);
        if let Err(error) = told {
            tracing::warn!(%error, session = %session.thread, "no other worker knows this session");
        }
    }

    /// A cancel whose request is not known here: it may be on another worker.
    pub(super) fn pass_on(&self, id: &str, request_id: &RequestId, reason: Option<String>) {
        if let Some(workers) = self.hub.workers() {
            workers.tell_all(Notice::CancelRequest {
                session: id.to_string(),
                request_id: request_id.clone().into_json_value(),
                reason,
            });
        }
    }

    /// The client ends a session: on all other workers, it has ended.
    pub async fn end_elsewhere(&self, id: &str) {
        let Some(workers) = self.hub.workers() else {
            return;
        };
        if let Err(error) = workers.set_fact(&name(id), ENDED, self.kept_for()).await {
            tracing::warn!(%error, "a session may be taken up although it has ended");
        }
        workers.tell_all(Notice::EndSession {
            session: id.to_string(),
        });
    }

    fn obey(&self, notice: Notice) {
        match notice {
            Notice::CancelRequest {
                session,
                request_id,
                reason,
            } => match serde_json::from_value(request_id) {
                Ok(request_id) => self.all().cancel(session, request_id, reason),
                Err(error) => tracing::warn!(%error, "another worker names no request"),
            },
            Notice::EndSession { session } => {
                let ended = self.all().end(session);
                if let Some(session) = ended {
                    session.close();
                }
            }
            _ => {}
        }
    }

    /// Whatever is in use here lives on, wherever it is used next.
    async fn keep_used(&self) {
        let Some(workers) = self.hub.workers() else {
            return;
        };
        let used = self.all().used_within(2 * self.tick());
        for (id, session) in used {
            if self.is_ended(&**workers, &id, &session).await {
                self.all().end(id.to_string());
                session.close();
            }
        }
    }

    async fn is_ended(&self, workers: &dyn Workers, id: &str, session: &Session) -> bool {
        let Some(record) = session.record.get() else {
            return false;
        };
        let kept = workers.keep_fact(&name(id), record, self.kept_for()).await;
        kept.is_ok_and(|kept| kept == ENDED)
    }

    fn tick(&self) -> Duration {
        (self.idle / 10).clamp(SHORTEST_TICK, LONGEST_TICK)
    }

    /// Past the last use: as it may be told late, a little longer than a session lives here.
    fn kept_for(&self) -> Duration {
        self.idle + 3 * self.tick()
    }
}

fn name(id: &str) -> String {
    format!("mcp:{id}")
}
