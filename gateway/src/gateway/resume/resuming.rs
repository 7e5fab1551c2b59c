//! What the hub does with sessions: taking them up, suspending them, giving them up.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::attached::Attached;
use super::messages::{self, Lost, Resume};
use super::queues::Queue;
use super::session::{Left, Session};
use crate::broker::{CloseCode, Event, PeerId};
use crate::gateway::hub::Hub;
use crate::gateway::outbox::Outbox;
use crate::tokens::Identity;
use crate::wire::Outgoing;

impl Hub {
    /// What the tokens of this hub's sessions begin with, up to the first `.`.
    pub fn resume_prefix(&self) -> &str {
        &self.resume_prefix
    }

    /// Has a session go on over the connection behind `outbox`, which may be anywhere: its app has
    /// sent [`Resume`], and is `by`. The answer and what the app lacks are in the outbox by then,
    /// whatever its limit. If the session is on another connection, that one is closed.
    pub fn resume(
        self: &Arc<Self>,
        resume: Resume<'_>,
        by: &Identity,
        outbox: Arc<Outbox>,
    ) -> Result<Attached, Lost> {
        let known = self.state().outboxes.session(resume.token, by).cloned();
        let session = known.ok_or(Lost::Unknown)?;
        // What the connection before has brought is either counted and done, or dropped.
        let mut inbound = session.inbound();
        let now = self.now();
        let mut state = self.state();
        let was_suspended = session.outbox(inbound.link).is_none();
        let answer = messages::resumed(now.unix_ms, resume.id, inbound.received.tell());
        let attached = session.attach(&mut inbound, resume.received, outbox.clone(), answer);
        let link = match attached {
            Ok(link) => link,
            Err(why) => {
                drop(state);
                self.give_up(&session, inbound.link);
                return Err(why);
            }
        };
        let peer = session.peer;
        state.outboxes.counts.suspended -= usize::from(was_suspended);
        state.outboxes.counts.resumed += 1;
        let backlog = outbox.backlog();
        state.broker.handle(
            Event::Suspended {
                peer,
                suspended: false,
            },
            now,
        );
        state.broker.handle(Event::Backlog { peer, backlog }, now);
        drop(state);
        drop(inbound);
        tracing::debug!(peer = peer.0, link, was_suspended, "resumed");
        Ok(Attached::new(self.clone(), session, link, outbox))
    }

    /// The answer to an app whose session cannot be resumed.
    pub(crate) fn lost(&self, id: Option<&str>, why: Lost) -> Outgoing {
        messages::lost(self.now().unix_ms, id, why)
    }

    /// Who has registered the app that this peer is, if it has registered.
    pub(crate) fn registered_by(&self, peer: PeerId) -> Option<Identity> {
        self.state().broker.registered_by(peer).cloned()
    }

    /// The session that `peer` has just registered, if it has one.
    pub(crate) fn attached(self: &Arc<Self>, peer: PeerId) -> Option<Attached> {
        let session = match self.state().outboxes.get(&peer) {
            Some(Queue::Kept(session)) => session.clone(),
            _ => return None,
        };
        let link = session.inbound().link;
        let outbox = session.outbox(link)?;
        tokio::spawn(Attached::acknowledge_later(self.clone(), session.clone()));
        Some(Attached::new(self.clone(), session, link, outbox))
    }

    /// The queue to a peer is shorter than it was, unless it has grown again by now, or another one
    /// takes its messages.
    pub(crate) fn relieved_if(&self, peer: PeerId, outbox: impl FnOnce() -> Option<Arc<Outbox>>) {
        let now = self.now();
        let mut state = self.state();
        if let Some(outbox) = outbox() {
            let backlog = outbox.backlog();
            let event = Event::Backlog { peer, backlog };
            state.broker.handle(event, now);
        }
    }

    /// A session's connection was lost: it waits for another for the grace time.
    pub(crate) fn connection_lost(self: &Arc<Self>, session: &Arc<Session>, link: u64) {
        let peer = session.peer;
        let now = self.now();
        let mut state = self.state();
        let room = state.outboxes.counts.suspended < self.limits.apps;
        let left = match session.suspend(link) {
            Left::Nothing => return,
            left => left,
        };
        let Left::Waiting { backlog } = left else {
            drop(state);
            return self.give_up(session, link);
        };
        state.outboxes.counts.suspended += 1;
        let suspended = true;
        state
            .broker
            .handle(Event::Suspended { peer, suspended }, now);
        state.broker.handle(Event::Backlog { peer, backlog }, now);
        drop(state);
        let (Ok(runtime), true) = (Handle::try_current(), room) else {
            return self.give_up(session, link);
        };
        tracing::debug!(peer = peer.0, link, "suspended");
        let (hub, session) = (self.clone(), session.clone());
        runtime.spawn(async move {
            tokio::select! {
                () = session.moved_on(link) => return,
                () = sleep(hub.limits.app_grace) => {}
            }
            tracing::debug!(peer = peer.0, link, "not resumed in time");
            hub.give_up(&session, link);
        });
    }

    /// Ends a session that cannot be taken up again, if it is still on `link`.
    fn give_up(&self, session: &Session, link: u64) {
        if session.end_link(link) {
            session.close(CloseCode::REPLACED, "The app cannot be resumed".into());
            self.handle(Event::Gone { peer: session.peer });
        }
    }
}
