//! Sessions that several workers have: whichever a message comes to takes the session up.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::request::{ClientInfo, WITH_SESSIONS};
use super::session::{Caller, Session};
use super::sessions::Sessions;
use crate::cluster::{Away, Cluster, Notice};
use crate::fronts::refusal::Refusal;
use crate::fronts::shares::Holder;
use crate::wire::json_rpc::Id;
use caphost::call::{Code, Error};

/// The longest time between two looks at which sessions are in use.
const LONGEST_TICK: Duration = Duration::from_secs(60);
/// And at the shortest.
const SHORTEST_TICK: Duration = Duration::from_millis(10);
/// What is kept of a session that has ended.
const ENDED: &[u8] = b"";

/// What another worker has to know of a session to take it up.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    caller: Caller,
    thread: Arc<str>,
    params: Params,
    /// The app it stays with, if its caller names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    app: Option<Arc<str>>,
}

/// What its client said with `initialize`, as far as it matters.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    protocol_version: String,
    capabilities: Value,
    client_info: ClientInfo,
}

impl Record {
    fn of(session: &Session, app: Option<&str>) -> Self {
        Record {
            app: app.filter(|_| session.caller.app.is_none()).map(Arc::from),
            caller: session.caller.clone(),
            thread: session.thread.clone(),
            params: Params {
                protocol_version: WITH_SESSIONS.into(),
                capabilities: json!({}),
                client_info: session.client.clone(),
            },
        }
    }

    /// Out of what was kept: nothing if the session has ended.
    fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

/// Lets the other workers know which sessions are in use, as long as there are sessions.
pub async fn keep(sessions: Weak<Sessions>) -> ControlFlow<()> {
    let Some(tick) = sessions.upgrade().map(|sessions| sessions.tick()) else {
        return ControlFlow::Break(());
    };
    let mut ticks = interval(tick);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(sessions) = sessions.upgrade() else {
            return ControlFlow::Break(());
        };
        drop(tokio::spawn(async move { sessions.keep_used().await }));
    }
}

impl Sessions {
    /// Takes up the session with that id if it is the caller's, and is not here. Whether it is here
    /// now, [`Sessions::find`] tells.
    pub async fn take_up(
        self: &Arc<Self>,
        id: &str,
        caller: &Caller,
        holder: Holder,
    ) -> Result<(), Refusal> {
        let Some(workers) = self.hub.workers() else {
            return Ok(());
        };
        if Uuid::try_parse(id).is_err() || self.table().has(id) {
            return Ok(());
        }
        let known = workers.fact(&name(id)).await;
        let known = known.map_err(|Away| unknown_for_now())?;
        let read = |json: Vec<u8>| Some((Record::read(&json)?, json));
        let theirs = |(record, _): &(Record, Vec<u8>)| record.caller == *caller;
        let Some((record, json)) = known.and_then(read).filter(theirs) else {
            return Ok(());
        };
        let Record {
            caller,
            thread,
            params,
            app,
        } = record;
        let mut session = Session::new(caller, holder, thread, params.client_info, self.idle);
        session.is_taken_up = true;
        let _ = session.record.set(json);
        if let Some(app) = app {
            session.stay_with(app);
        }
        let session = Arc::new(session);
        self.enter(id.into(), &session)?;
        tracing::debug!(session = %session.thread, "taken up");
        Ok(())
    }

    /// A session has begun: others may take it up from now on.
    pub async fn begun(&self, id: &str, session: &Session) {
        let Some(workers) = self.hub.workers() else {
            return;
        };
        let Ok(json) = serde_json::to_vec(&Record::of(session, session.app(&self.hub))) else {
            return;
        };
        let told = workers.set_fact(&name(id), &json, self.kept_for()).await;
        let _ = session.record.set(json);
        if let Err(error) = told {
            tracing::warn!(%error, session = %session.thread, "no other worker knows this session");
        }
    }

    /// A cancel whose request is not known here: it may be on another worker.
    pub fn pass_on(&self, id: &str, request: &Id, reason: Option<String>) {
        if let Some(workers) = self.hub.workers() {
            workers.tell_all(Notice::CancelRequest {
                session: id.to_string(),
                request_id: request.value().clone(),
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

    /// Does what another worker tells.
    pub fn obey(&self, notice: &Notice) {
        match notice {
            Notice::CancelRequest {
                session,
                request_id,
                reason,
            } => match Id::read(request_id) {
                Some(request) => {
                    let (session, reason) = (session.clone(), reason.clone());
                    self.table().cancel(session, request, reason);
                }
                None => tracing::warn!("another worker names no request"),
            },
            Notice::EndSession { session } => self.end_here(session.clone()),
            _ => {}
        }
    }

    /// Whatever is in use here lives on, wherever it is used next.
    async fn keep_used(&self) {
        let Some(workers) = self.hub.workers() else {
            return;
        };
        let used = self.table().used_within(2 * self.tick());
        for (id, session) in used {
            if self.is_ended(workers, &id, &session).await {
                self.end_here(id);
            }
        }
    }

    /// It has ended elsewhere.
    fn end_here(&self, id: String) {
        let ended = self.table().end(id);
        if let Some(session) = ended {
            session.close();
        }
    }

    async fn is_ended(&self, workers: &Cluster, id: &str, session: &Session) -> bool {
        let Some(record) = session.record.get() else {
            return false;
        };
        let kept = workers.keep_fact(&name(id), record, self.kept_for()).await;
        kept.is_ok_and(|kept| kept == ENDED)
    }

    fn tick(&self) -> Duration {
        (self.idle / 10).clamp(SHORTEST_TICK, LONGEST_TICK)
    }

    /// How long after its last use: a little longer than a session lives here, as news may be late.
    fn kept_for(&self) -> Duration {
        self.idle + 3 * self.tick()
    }
}

/// 503: there may be such a session on another worker, and nobody can say.
fn unknown_for_now() -> Refusal {
    let message = "The session cannot be looked up: Redis does not answer";
    let error = Error::new(Code::DISCONNECTED, message);
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
    fn a_session_is_kept_as_workers_of_earlier_versions_read_and_write_it() {
        let caller = Caller {
            identity: Identity::anyone(),
            app: Some("demo".into()),
        };
        let client = ClientInfo {
            name: "client".into(),
            version: "1".into(),
        };
        let holder = Holder::Token("a".into());
        let session = Session::new(caller, holder, "t".into(), client, Duration::ZERO);
        let written = serde_json::to_value(Record::of(&session, Some("demo"))).unwrap();
        let identity = json!(Identity::anyone());
        assert_eq!(
            written,
            json!({
                "caller": { "identity": identity, "app": "demo" }, "thread": "t",
                "params": {
                    "protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": { "name": "client", "version": "1" },
                },
            })
        );
        let mut earlier = written;
        earlier["params"]["capabilities"] = json!({ "elicitation": {} });
        earlier["params"]["clientInfo"]["title"] = json!("A client");
        let read = Record::read(earlier.to_string().as_bytes()).unwrap();
        assert_eq!(read.caller, session.caller);
        assert_eq!(read.params.client_info, session.client);
    }

    #[test]
    fn of_a_session_that_has_ended_nothing_is_kept() {
        assert!(Record::read(ENDED).is_none());
    }
}
