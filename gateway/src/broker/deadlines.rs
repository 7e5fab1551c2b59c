//! What the broker waits for, and how long.

use super::{Broker, PeerId};
use caphost::call::Millis;

impl Broker {
    /// When [`Event::Deadline`] is due next, on the monotonic clock.
    ///
    /// [`Event::Deadline`]: super::Event::Deadline
    pub fn next_deadline(&self) -> Option<Millis> {
        let all = [self.calls.next_deadline(), self.sessions.deadlines.first()];
        all.into_iter().flatten().reduce(Millis::min)
    }

    /// Handles every deadline that has passed.
    pub(super) fn deadline(&mut self) {
        let now = self.now.monotonic_ms;
        while let Some(peer) = self.sessions.deadlines.pop(now) {
            match self.sessions.has_left(peer) {
                true => self.leave(peer),
                false => self.internal_overdue(peer),
            }
        }
        while let Some(run) = self.calls.take_due(now) {
            self.call_due(run);
        }
    }

    /// Sets how many milliseconds the app of an agent is waited for. `None` ends the wait.
    pub(super) fn wait_for(&mut self, peer: PeerId, millis: Option<Millis>) {
        let until = millis.map(|it| self.now.monotonic_ms + it);
        self.sessions.wait_for(peer, until);
    }

    /// How long an app has to answer a cancel, and to answer a call past its timeout.
    pub(super) fn grace(&self) -> Millis {
        self.limits.confirm_timeout.as_secs_f64() * 1_000.0
    }
}
