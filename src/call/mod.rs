//! The life of one call, and the rules that all transports and dialects share.

use std::collections::BinaryHeap;

mod deadline;
mod error;
#[cfg(test)]
pub(crate) mod growth;
mod id;
mod ledger;
mod outcome;
mod queue;
mod recent;
mod stop;

pub use deadline::Deadlines;
pub use error::{Code, Error, ErrorParts, OwnCode};
pub use id::{CallId, InvalidCallId, MAX_CALL_ID_CHARS};
pub use ledger::{CancelAnswer, End, Ledger, Standing};
pub use outcome::{Outcome, Response};
pub use queue::Queue;
pub use stop::{Grade, LateEnd, Step, Stop, StoppedBy};

/// Milliseconds on a clock that never goes back. The shell chooses its origin: `performance.now()`
/// in a browser, time since the start in the gateway.
pub type Millis = f64;

/// Names one call inside a host. Never reused while the host lives, and never shown to a peer.
pub type CallKey = u32;

/// The keys in ascending order, in which they were given out. A heap sorts them with a tenth of the
/// code of the standard library's sort, which pages would load.
pub(crate) fn in_order(keys: impl Iterator<Item = u32>) -> Vec<u32> {
    keys.collect::<BinaryHeap<u32>>().into_sorted_vec()
}
