//! What workers tell each other of sessions: cancels whose requests are elsewhere, and sessions that their
//! clients have ended.

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::sealing::LIFETIME;
use super::sessions::{Sessions, away};
use crate::broker::calls::RunId;
use crate::cluster::Notice;
use crate::fronts::refusal::Refusal;
use crate::wire::json_rpc::Id;

/// The fact that a client has ended a session.
const ENDED: &[u8] = b"";
/// Why a session ends that the client has ended on another worker.
const ENDED_ELSEWHERE: &str = "ended on another worker";
/// How long a worker tells Redis of an ended session again, if Redis loses that.
const TOLD_AGAIN: Duration = Duration::from_secs(60 * 60);

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
        let (sessions, mut arrivals) = (Arc::downgrade(self), self.hub.arrivals.subscribe());
        tokio::spawn(async move {
            while arrivals.changed().await.is_ok()
                && let Some(sessions) = sessions.upgrade()
            {
                sessions.catch_up().await;
            }
        });
    }

    /// Ends the sessions here that their clients have ended while this worker and another could not reach each
    /// other.
    async fn catch_up(&self) {
        let known = self.table().numbers();
        for number in known {
            if self.has_ended(number).await {
                self.end_here(number, ENDED_ELSEWHERE);
            }
        }
    }

    /// Whether Redis knows that the client has ended the session. While Redis is away, the session goes on.
    pub(super) async fn has_ended(&self, number: Uuid) -> bool {
        match self.hub.cluster() {
            Some(cluster) => cluster
                .fact(&name(number))
                .await
                .is_ok_and(|it| it.is_some()),
            None => false,
        }
    }

    /// Tells the other workers of a cancel whose request is unknown here.
    pub fn tell_cancel(
        &self,
        session: Uuid,
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
            session,
            request_id: request.value().clone(),
            reason,
        });
        match told {
            true => Ok(()),
            false => Err(away("Not all workers could be told of the cancel")),
        }
    }

    /// The client answers a question of a call in that session, which may be on another worker.
    pub fn answer(
        &self,
        session: Uuid,
        (run, question): (RunId, u64),
        payload: String,
    ) -> Result<(), Refusal> {
        if run.is_of(self.hub.process) {
            self.hub.answer_question(session, (run, question), &payload);
            return Ok(());
        }
        let Some(cluster) = self.hub.cluster() else {
            return Ok(());
        };
        let told = cluster.tell_all(Notice::AnswerQuestion {
            session,
            run,
            question,
            payload,
        });
        match told {
            true => Ok(()),
            false => Err(away("Not all workers could be told of the answer")),
        }
    }

    /// The client ends a session: tells all other workers, and Redis for workers that come later.
    pub(super) async fn tell_ended(&self, session: Uuid) {
        let Some(cluster) = self.hub.cluster() else {
            return;
        };
        let name = name(session);
        match cluster.claim_fact(&name, ENDED, LIFETIME).await {
            Ok(_) => cluster.hold_fact(&name, ENDED, TOLD_AGAIN),
            Err(error) => {
                tracing::warn!(%error, "a session has ended, and other workers do not know yet");
            }
        }
        cluster
            .tell_all_in_turn(Notice::EndSession { session })
            .await;
    }

    /// Obeys the notice of another worker.
    fn obey(&self, notice: &Notice) {
        match notice {
            Notice::CancelRequest {
                session,
                request_id,
                reason,
            } => match Id::read(request_id) {
                Some(request) => self.table().cancel(*session, &request, reason.clone()),
                None => tracing::warn!("another worker names no request"),
            },
            Notice::AnswerQuestion {
                session,
                run,
                question,
                payload,
            } => self
                .hub
                .answer_question(*session, (*run, *question), payload),
            Notice::EndSession { session } => {
                if let Some(cluster) = self.hub.cluster() {
                    cluster.hold_fact(&name(*session), ENDED, TOLD_AGAIN);
                }
                self.end_here(*session, ENDED_ELSEWHERE);
            }
            _ => {}
        }
    }
}

fn name(session: Uuid) -> String {
    format!("mcp:{session}")
}
