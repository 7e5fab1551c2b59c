//! Sessions that several workers share: the worker that gets a message takes the session up.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::request::ClientInfo;
use super::session::{Caller, McpSession};
use super::sessions::Sessions;
use crate::bounds::shares::Holder;
use crate::cluster::{Away, Notice};
use crate::fronts::idle::tick;
use crate::fronts::refusal::Refusal;
use crate::wire::json_rpc::Id;
use caphost::call::{Code, Error};
use caphost::dialect::mcp::Version;

/// The record of an ended session.
const ENDED: &[u8] = b"";

/// Why a session ends that the client has ended on another worker.
const ENDED_ELSEWHERE: &str = "ended on another worker";

/// The record of a session, from which another worker takes it up.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    caller: Caller,
    thread: Arc<str>,
    client: ClientInfo,
    /// The version of the session.
    version: String,
    /// The app that the session stays with, if the client names none and the session has met one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    app: Option<Arc<str>>,
}

impl Record {
    fn of(session: &McpSession) -> Self {
        Record {
            app: session.met.get().cloned(),
            caller: session.caller.clone(),
            thread: session.thread.clone(),
            client: session.client.clone(),
            version: session.version.name.into(),
        }
    }

    /// Reads a record. `None` if the session has ended.
    fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    fn write(&self) -> Vec<u8> {
        // Strings and maps can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Sessions {
    /// Listens to other workers from now on.
    pub(super) fn hear_others(self: &Arc<Self>) {
        let sessions = Arc::downgrade(self);
        self.hub.hear_others(move |notice| {
            let sessions = sessions.upgrade();
            sessions.is_some_and(|sessions| {
                sessions.obey(notice);
                true
            })
        });
    }

    /// Takes up the session with that id, unless it is already here, has ended, or belongs to another caller.
    pub(super) async fn take_up(
        &self,
        id: &str,
        caller: &Caller,
        holder: &Holder,
    ) -> Result<(), Refusal> {
        let Some(cluster) = self.hub.cluster() else {
            return Ok(());
        };
        if Uuid::try_parse(id).is_err() || self.table().knows(id) {
            return Ok(());
        }
        let known = cluster.fact(&name(id)).await;
        let known = known.map_err(|Away| away("The session cannot be looked up"))?;
        let Some(json) = known else { return Ok(()) };
        let record = Record::read(&json).filter(|record| record.caller == *caller);
        let Some(record) = record else { return Ok(()) };
        let holder = holder.clone();
        let version = Version::for_session(&record.version);
        let mut session =
            McpSession::new(record.caller, holder, record.thread, record.client, version);
        session.is_taken_up = true;
        session.met = record.app.map(OnceLock::from).unwrap_or_default();
        let session = Arc::new(session);
        self.enter(id, &session)?;
        cluster.hold_fact(&name(id), &json, self.kept_for());
        tracing::debug!(session = %session.thread, "taken up");
        Ok(())
    }

    /// Writes down a new session, so that other workers can take it up.
    pub(super) async fn tell_begun(&self, id: &str, session: &McpSession) {
        let Some(cluster) = self.hub.cluster() else {
            return;
        };
        let record = Record::of(session).write();
        let (name, session) = (name(id), &session.thread);
        if let Err(error) = cluster.claim_fact(&name, &record, self.kept_for()).await {
            tracing::warn!(%error, %session, "no other worker knows this session yet");
        }
    }

    /// Tells the other workers of a cancel whose request is unknown here.
    pub fn tell_cancel(
        &self,
        id: &str,
        request: &Id,
        reason: Option<String>,
    ) -> Result<(), Refusal> {
        let Some(cluster) = self.hub.cluster() else {
            return Ok(());
        };
        if !cluster.standing().connected {
            return Err(away("The request cannot be looked for"));
        }
        let told = cluster.tell_all(Notice::CancelRequest {
            session: id.to_string(),
            request_id: request.value().clone(),
            reason,
        });
        match told {
            true => Ok(()),
            false => Err(away("Not all workers could be told of the cancel")),
        }
    }

    /// The client ends a session: tells all other workers.
    pub(super) async fn tell_ended(&self, id: &str) {
        let Some(cluster) = self.hub.cluster() else {
            return;
        };
        if let Err(error) = cluster.set_fact(&name(id), ENDED, self.kept_for()).await {
            tracing::warn!(%error, "a session has ended, and other workers do not know yet");
        }
        let ended = Notice::EndSession {
            session: id.to_string(),
        };
        cluster.tell_all_to_come(ended).await;
    }

    /// Obeys the notice of another worker.
    fn obey(&self, notice: &Notice) {
        match notice {
            Notice::CancelRequest {
                session,
                request_id,
                reason,
            } => match Id::read(request_id) {
                Some(request) => {
                    self.table().cancel(session, &request, reason.clone());
                }
                None => tracing::warn!("another worker names no request"),
            },
            Notice::EndSession { session } => {
                if let Some(cluster) = self.hub.cluster() {
                    cluster.fact_changed(&name(session), ENDED);
                }
                self.end_here(session, ENDED_ELSEWHERE);
            }
            _ => {}
        }
    }

    /// Renews the records of the sessions in use, so that they live on every worker.
    pub(super) fn keep_used(self: &Arc<Self>) {
        let Some(cluster) = self.hub.cluster().cloned() else {
            return;
        };
        let sessions = self.clone();
        tokio::spawn(async move {
            let used = sessions.table().used_within(2 * tick(sessions.idle));
            for (id, session) in used {
                let (name, record) = (name(&id), Record::of(&session).write());
                let kept = cluster.keep_fact(&name, &record, sessions.kept_for());
                if kept.await.is_ok_and(|kept| kept == ENDED) {
                    sessions.end_here(&id, ENDED_ELSEWHERE);
                }
            }
        });
    }

    /// How long a record is kept after the last use: a little longer than the session lives here, because
    /// news may be late.
    fn kept_for(&self) -> Duration {
        self.idle + 3 * tick(self.idle)
    }
}

/// 503: the session or request may be on another worker that cannot be asked.
fn away(what: &str) -> Refusal {
    let error = Error::new(Code::DISCONNECTED, format!("{what}: {Away}"));
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)
}

fn name(id: &str) -> String {
    format!("mcp:{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Identity;

    #[test]
    fn another_worker_reads_what_was_kept_of_a_session() {
        let caller = Caller {
            identity: Identity::anyone(),
            app: Some("demo".into()),
            tools: None,
        };
        let client = ClientInfo {
            name: "client".into(),
            version: "1".into(),
        };
        let holder = Holder::Token("a".into());
        let session = McpSession::new(
            caller,
            holder,
            "t".into(),
            client,
            Version::for_session("2024-11-05"),
        );
        let _ = session.met.set("met".into());
        let read = Record::read(&Record::of(&session).write()).unwrap();
        assert_eq!(read.caller, session.caller);
        assert_eq!(read.thread, session.thread);
        assert_eq!(read.client, session.client);
        assert_eq!(read.app.as_ref(), session.met.get());
    }

    #[test]
    fn of_a_session_that_has_ended_nothing_is_kept() {
        assert!(Record::read(ENDED).is_none());
    }
}
