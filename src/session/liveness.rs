//! Whether agents are alive, on transports that do not report a lost peer. An agent that has announced
//! that it answers is asked while a call of that agent is in flight.

use super::action::Action;
use super::records::Life;
use super::state::HostState;
use super::terms::ConnectionId;
use crate::call::{Millis, in_order};
use crate::dialect::events::LIFE_ASKED;

/// An agent is gone after one question without an answer. A question that may have been answered in time
/// counts half.
const WHOLE: u8 = 2;

#[derive(PartialEq)]
enum Seen {
    /// The agent waits for nothing.
    AtRest,
    Alive,
    Gone,
}

impl Life {
    fn look(&mut self, busy: bool, every: Millis, now: Millis) -> Seen {
        if self.heard || !busy {
            self.unanswered = 0;
        } else if now - self.asked > 1.5 * every {
            // After a late look, an answer may have come that nobody has read.
            self.unanswered += WHOLE / 2;
        } else {
            self.unanswered += WHOLE;
        }
        if self.unanswered >= WHOLE {
            return Seen::Gone;
        }
        if !busy {
            return Seen::AtRest;
        }
        self.heard = false;
        self.asked = now;
        Seen::Alive
    }
}

impl<P: Clone, H: Clone> HostState<P, H> {
    /// The agent of that connection answers when it is asked for a sign of life. It counts as gone after
    /// `liveness` milliseconds without one, the same for all agents.
    pub fn watch_life(&mut self, connection: ConnectionId, liveness: Millis) {
        self.looks.every = liveness / 2.0;
        if let Some(session) = self.session_mut(connection) {
            session.life = Some(Life {
                heard: true,
                asked: 0.0,
                unanswered: 0,
            });
        }
    }

    /// That agent need not be asked.
    pub fn unwatch_life(&mut self, connection: ConnectionId) {
        if let Some(session) = self.session_mut(connection) {
            session.life = None;
        }
    }

    /// A message of that agent has come. The other events of agents do the same.
    pub fn heard(&mut self, connection: ConnectionId, now: Millis) {
        let session = self.session_mut(connection);
        let Some(life) = session.and_then(|session| session.life.as_mut()) else {
            return;
        };
        life.heard = true;
        if self.looks.next.is_none() || self.calls.is_empty() {
            self.looks.next = Some(now + self.looks.every);
        }
    }

    /// When to look next. Nobody is looked after while no call is in flight.
    pub(super) fn next_look(&self) -> Millis {
        let next = self.looks.next.filter(|_| !self.calls.is_empty());
        next.unwrap_or(f64::INFINITY)
    }

    pub(super) fn look_after_agents(&mut self, now: Millis) {
        if self.next_look() > now {
            return;
        }
        let every = self.looks.every;
        let (mut alive, mut gone) = (Vec::new(), Vec::new());
        for (key, connection) in &mut self.connections {
            let Some(session) = &mut connection.session else {
                continue;
            };
            let busy = session.ledger.in_flight() > 0;
            match session.life.as_mut().map(|it| it.look(busy, every, now)) {
                Some(Seen::Alive) => alive.push(*key),
                Some(Seen::Gone) => gone.push(*key),
                Some(Seen::AtRest) | None => {}
            }
        }
        self.looks.next = (!alive.is_empty()).then_some(now + every);
        for agent in in_order(gone.into_iter()) {
            self.actions.push_back(Action::Lost { agent });
        }
        for to in in_order(alive.into_iter()) {
            self.actions.push_back(Action::Notify {
                to,
                event: LIFE_ASKED.into(),
                data: None,
            });
        }
    }
}
