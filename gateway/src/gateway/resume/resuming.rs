//! How the hub resumes, suspends and gives up sessions.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::sleep;
use uuid::fmt::Simple;

use super::attached::Attached;
use super::messages::{self, Lost, Resume};
use crate::broker::{CloseCode, Event, PeerId};
use crate::cluster::message::Replaced;
use crate::gateway::hub::Hub;
use crate::gateway::outbox::Outbox;
use crate::tokens::Identity;
use crate::wire::Outgoing;

impl Hub {
    /// The beginning of this hub's session tokens, up to the first `.`.
    pub fn resume_prefix(&self) -> Simple {
        self.process.simple()
    }

    /// Continues a session on the connection behind `outbox`, which may be on any worker. The app has sent
    /// [`Resume`], and its identity is `by`. When this function returns, the answer and the messages that the
    /// app lacks are in the outbox, even beyond its limit. If the session is on another connection, that
    /// connection is closed.
    pub fn resume(
        self: &Arc<Self>,
        resume: Resume<'_>,
        by: &Identity,
        outbox: Arc<Outbox>,
    ) -> Result<Attached, Lost> {
        let known = self.state().outboxes.session(resume.token, by).cloned();
        let session = known.ok_or(Lost::Unknown)?;
        let peer = session.peer;
        // Each message of the connection before is either counted and handled, or dropped.
        let mut inbound = session.inbound();
        let now = self.now();
        let mut state = self.state();
        let first = messages::resumed(now.unix_ms, resume.id, inbound.received.tell());
        let resumed = state.outboxes.resume(peer, resume.received, &outbox, first);
        let was_suspended = match resumed {
            Ok(was_suspended) => was_suspended,
            Err(why) => {
                drop(state);
                self.give_up(peer, &inbound.outbox);
                return Err(why);
            }
        };
        inbound.outbox = outbox.clone();
        session.readings.lose();
        let suspended = false;
        state
            .broker
            .handle(Event::Suspended { peer, suspended }, now);
        let backlog = outbox.backlog();
        state.broker.handle(Event::Backlog { peer, backlog }, now);
        drop(state);
        drop(inbound);
        tracing::debug!(peer = peer.0, was_suspended, "resumed");
        Ok(Attached::new(self.clone(), session, outbox))
    }

    /// The answer to an app whose session cannot be resumed.
    pub(crate) fn app_lost_message(&self, id: Option<&str>, why: Lost) -> Outgoing {
        messages::lost(self.now().unix_ms, id, why)
    }

    /// The identity that has registered this app, if the app has registered.
    pub(crate) fn registered_by(&self, peer: PeerId) -> Option<Identity> {
        self.state().broker.apps().registered_by(peer).cloned()
    }

    /// The session that `peer` has just registered, if there is one.
    pub(crate) fn attached(self: &Arc<Self>, peer: PeerId) -> Option<Attached> {
        let session = self.state().outboxes.session_of(peer)?.clone();
        let outbox = session.inbound().outbox.clone();
        Some(Attached::new(self.clone(), session, outbox))
    }

    /// The connection behind `outbox`, which that peer's session uses, was lost. The session waits for
    /// another connection for the grace time.
    pub(crate) fn connection_lost(self: &Arc<Self>, peer: PeerId, outbox: &Arc<Outbox>) {
        let now = self.now();
        let mut state = self.state();
        if !state.outboxes.is_on(peer, outbox) {
            return;
        }
        let Some(backlog) = outbox.suspend() else {
            drop(state);
            return self.give_up(peer, outbox);
        };
        let room = state.outboxes.counts.suspended < self.limits.apps;
        let (Ok(runtime), true) = (Handle::try_current(), room) else {
            state.outboxes.counts.lost += 1;
            drop(state);
            return self.give_up(peer, outbox);
        };
        let timer = runtime.spawn(give_up_later(self.clone(), peer, outbox.clone()));
        state.outboxes.suspend(peer, timer.abort_handle());
        let suspended = true;
        state
            .broker
            .handle(Event::Suspended { peer, suspended }, now);
        state.broker.handle(Event::Backlog { peer, backlog }, now);
        drop(state);
        tracing::debug!(peer = peer.0, "suspended");
    }

    /// Ends the session of that peer, if the connection behind `outbox` is the session's current or last
    /// connection. Returns whether it is.
    pub(crate) fn end_session(&self, peer: PeerId, outbox: &Outbox) -> bool {
        let mut state = self.state();
        let is_on = state.outboxes.is_on(peer, outbox);
        if is_on {
            // From here on, nobody can resume the session.
            state.outboxes.remove(&peer);
        }
        drop(state);
        if is_on {
            self.handle(Event::Gone { peer });
        }
        is_on
    }

    /// An app has registered again on another worker and replaces its session here. Does nothing if the
    /// session is not the app's own.
    pub(crate) fn session_replaced(&self, replaced: &Replaced) {
        let Replaced { token, app, by } = replaced;
        let peer = self.state().outboxes.replaced(token, app, by);
        if let Some(peer) = peer {
            self.handle(Event::Gone { peer });
        }
    }

    /// Ends a session that cannot be resumed, if the session is still on that connection.
    fn give_up(&self, peer: PeerId, outbox: &Outbox) {
        if self.end_session(peer, outbox) {
            outbox.close(CloseCode::REPLACED, "The app cannot be resumed".into());
        }
    }
}

async fn give_up_later(hub: Arc<Hub>, peer: PeerId, outbox: Arc<Outbox>) {
    sleep(hub.limits.app_grace).await;
    tracing::debug!(peer = peer.0, "not resumed in time");
    hub.give_up(peer, &outbox);
}
