//! Deadlines: what the broker waits for, and how long.

use std::collections::BTreeSet;

use super::{Broker, PeerId};
use crate::broker::runs::RunId;
use caphost::call::Millis;

/// What the broker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A session of the gateway itself opens or closes, or the calls of an agent that has left end.
    Agent(PeerId),
    /// Something that a call waits for is overdue.
    Call(RunId),
}

/// All deadlines in order of time. The key is the time's bits.
#[derive(Debug, Default)]
pub(super) struct Deadlines(BTreeSet<(u64, Due)>);

impl Deadlines {
    /// Moves the deadline of `due` from `before` to `at`.
    pub fn change(&mut self, due: Due, before: Option<Millis>, at: Option<Millis>) {
        if let Some(before) = before {
            self.0.remove(&(before.to_bits(), due));
        }
        self.0.extend(at.map(|at| (at.to_bits(), due)));
    }

    /// How many deadlines of calls there are.
    #[cfg(test)]
    pub(super) fn calls(&self) -> usize {
        let of_calls = |(_, due): &&(u64, Due)| matches!(due, Due::Call(_));
        self.0.iter().filter(of_calls).count()
    }

    fn first(&self) -> Option<(Millis, Due)> {
        let (at, due) = self.0.first()?;
        Some((Millis::from_bits(*at), *due))
    }
}

impl Broker {
    /// When [`Event::Deadline`] is due next, on the monotonic clock.
    ///
    /// [`Event::Deadline`]: super::Event::Deadline
    pub fn next_deadline(&self) -> Option<Millis> {
        self.deadlines.first().map(|(at, _)| at)
    }

    /// Handles every deadline that has passed.
    pub(super) fn deadline(&mut self) {
        while let Some((at, due)) = self.deadlines.first()
            && at <= self.now.monotonic_ms
        {
            self.deadlines.change(due, Some(at), None);
            match due {
                Due::Agent(peer) if self.has_left(peer) => self.leave(peer),
                Due::Agent(session) => self.own_overdue(session),
                Due::Call(run) => self.call_due(run),
            }
        }
    }

    /// Sets how many milliseconds the app of an agent is waited for. `None` ends the wait.
    pub(super) fn wait_for(&mut self, peer: PeerId, millis: Option<Millis>) {
        let until = millis.map(|it| self.now.monotonic_ms + it);
        if let Some(agent) = self.agents.get_mut(&peer) {
            let before = std::mem::replace(&mut agent.until, until);
            self.deadlines.change(Due::Agent(peer), before, until);
        }
    }

    /// How long an app has to answer a cancel, and to answer a call past its timeout.
    pub(super) fn grace(&self) -> Millis {
        self.limits.confirm_timeout.as_secs_f64() * 1_000.0
    }
}
