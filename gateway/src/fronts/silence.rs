//! When a silent peer counts as lost: only after it was asked and had time to answer.
//!
//! The process, its machine or both may stand still for a while. A late alarm shows that, and then the peer
//! is asked again.

use std::time::Duration;

use tokio::time::Instant;

/// The wait for an answer has this many steps, so that a standstill is noticed.
const STEPS: u32 = 4;
/// How late an alarm may be without a standstill: timers are inexact.
const INEXACT: Duration = Duration::from_millis(20);
/// The least part of the timeout that is left for an answer.
const FOR_ANSWERS: u32 = 8;

/// The silence of one peer.
#[derive(Debug)]
pub(super) struct Silence {
    /// How long the peer may be silent before it is asked.
    pub unasked: Duration,
    step: Duration,
    /// Set while the peer was asked and has not answered: the time of its last sign of life, and the steps
    /// that have passed.
    asked: Option<(Instant, u32)>,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Check again at that time.
    Again(Instant),
    /// Ask the peer, and check again at that time.
    Ask(Instant),
    Gone,
}

impl Silence {
    /// The silence of a peer that counts as lost after `dead`. Before it is asked, it is pinged at
    /// `ping_interval`.
    pub fn new(ping_interval: Duration, dead: Duration) -> Self {
        let answer = dead.saturating_sub(ping_interval) / 2;
        let answer = answer.max(dead / FOR_ANSWERS);
        Silence {
            unasked: dead - answer,
            step: answer / STEPS,
            asked: None,
        }
    }

    /// Checks the peer. `life` is its last sign of life, and `due` the time at which this check was to
    /// happen.
    pub fn look(&mut self, life: Instant, due: Instant, now: Instant) -> Look {
        let Some((asked, steps)) = self.asked.filter(|(asked, _)| *asked >= life) else {
            self.asked = None;
            let until = life + self.unasked;
            return match until > now {
                true => Look::Again(until),
                false => self.ask(now),
            };
        };
        if now - due >= self.step.max(INEXACT) {
            return self.ask(now);
        }
        if steps + 1 >= STEPS {
            return Look::Gone;
        }
        self.asked = Some((asked, steps + 1));
        Look::Again(now + self.step)
    }

    fn ask(&mut self, now: Instant) -> Look {
        self.asked = Some((now, 0));
        Look::Ask(now + self.step)
    }
}

#[cfg(test)]
mod tests;
