//! How far a stop was seen.

use super::Millis;

/// How far the stop of a cancelled call was seen. A response and every confirmation have this as
/// `metadata.stop`. It never says more than is known.
///
/// From the strongest to the weakest. A whole has the grade of its weakest part.
///
/// ```
/// use caphost::Stop;
///
/// let parts = [Stop::Dropped, Stop::Returned];
/// assert_eq!(parts.into_iter().max(), Some(Stop::Returned));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The handler never ran.
    NeverStarted,
    /// The Rust future was dropped, and its drop guards have run.
    Dropped,
    /// The JavaScript handler has settled.
    Returned,
    /// The worker or process of the handler was ended, and that end was proven.
    Terminated,
    /// The handler was told, or cannot be told, and its end was not seen. What it still returns is
    /// discarded.
    Abandoned,
}

impl Stop {
    /// All grades, the strongest first.
    #[doc(hidden)]
    pub const ALL: [Stop; 5] = [
        Stop::NeverStarted,
        Stop::Dropped,
        Stop::Returned,
        Stop::Terminated,
        Stop::Abandoned,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Stop::NeverStarted => "never-started",
            Stop::Dropped => "dropped",
            Stop::Returned => "returned",
            Stop::Terminated => "terminated",
            Stop::Abandoned => "abandoned",
        }
    }

    /// The grade that a peer has written. A peer that says nothing, or an unknown word, has not
    /// shown any end: [`Stop::Abandoned`].
    pub fn of_peer(word: Option<&str>) -> Stop {
        let known = Stop::ALL.into_iter().find(|it| word == Some(it.as_str()));
        known.unwrap_or(Stop::Abandoned)
    }
}

/// As the word on the wire.
impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What has reached a handler that can be ended from outside, as in a worker.
///
/// In this order each step is tried when the step before was not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The handler has taken its signal.
    Signal,
    /// The handler has read the flag in shared memory, for which its event loop need not turn.
    Flag,
    /// The worker of the handler was ended.
    Terminate,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 3] = [Step::Signal, Step::Flag, Step::Terminate];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Step::Signal => "signal",
            Step::Flag => "flag",
            Step::Terminate => "terminate",
        }
    }
}

/// What has stopped a handler that can be ended from outside, as in a worker. Beside [`Stop`],
/// these are `metadata.step` and `metadata.took`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppedBy {
    /// The last step that was taken.
    pub step: Step,
    /// Milliseconds from the first cancel to the end of the call.
    pub took: Millis,
}

impl StoppedBy {
    /// What a peer has written, if it is a known word and a possible time.
    pub fn of_peer(step: Option<&str>, took: Option<Millis>) -> Option<Self> {
        let step = Step::ALL.into_iter().find(|it| step == Some(it.as_str()))?;
        let took = took.filter(|took| took.is_finite() && *took >= 0.0)?;
        let took = whole_micros(took);
        Some(StoppedBy { step, took })
    }
}

/// How a handler ended after its call had been answered as [`Stop::Abandoned`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateEnd {
    /// Whether it returned data rather than failed. The data is discarded either way.
    pub success: bool,
    /// Milliseconds from the end of the call to the end of the handler.
    pub after: Millis,
}

impl LateEnd {
    /// What a peer has written, if it says both.
    pub fn of_peer(success: Option<bool>, after: Option<Millis>) -> Option<Self> {
        let after = after.filter(|after| !after.is_nan())?;
        Some(LateEnd {
            success: success?,
            after: whole_micros(after),
        })
    }
}

/// How far a stop was seen, and what else is known of the stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grade {
    /// How far.
    pub stop: Stop,
    /// What has stopped the handler, if the peer says.
    pub by: Option<StoppedBy>,
    /// How the handler of an abandoned call has ended since.
    pub late_end: Option<LateEnd>,
}

impl From<Stop> for Grade {
    fn from(stop: Stop) -> Self {
        Grade {
            stop,
            by: None,
            late_end: None,
        }
    }
}

/// Without a word of the app, nothing of the stop was seen.
impl Default for Grade {
    fn default() -> Self {
        Stop::Abandoned.into()
    }
}

/// Milliseconds, to three places: what a peer writes is not believed beyond that, nor below zero.
fn whole_micros(millis: Millis) -> Millis {
    let millis = millis.max(0.0);
    let whole = (millis * 1_000.0 + 0.5).floor() / 1_000.0;
    // A very large number has no places.
    if whole.is_finite() { whole } else { millis }
}

#[cfg(test)]
mod tests;
