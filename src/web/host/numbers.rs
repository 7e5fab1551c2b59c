//! The numbers by which JavaScript and the host's half name things to each other. The copy in
//! JavaScript, `states.js` and `workers/numbers.js`, is written from this file by a test.

use crate::call::{Outcome, Step, Stop};

/// The end states of a call, as observers see them.
#[cfg(test)]
const STATES: [&str; 3] = ["completed", "failed", "cancelled"];

/// The number of the state in which a call has ended.
pub(super) fn state<P>(outcome: &Outcome<P>) -> u32 {
    match outcome {
        Outcome::Completed(_) => 0,
        Outcome::Failed(_) => 1,
        Outcome::Cancelled(_) => 2,
    }
}

/// How far a call was seen to stop.
pub(super) fn stop(number: u32) -> Option<Stop> {
    Stop::ALL.get(number as usize).copied()
}

/// The step of a stop that has reached a handler. `None` if no step has, because the rest of the handler
/// runs in the page.
pub(super) fn step(number: u32) -> Option<Step> {
    Step::ALL.get(number as usize).copied()
}

#[cfg(test)]
mod tests;
