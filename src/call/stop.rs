//! How far a stop was seen.

use super::Millis;

/// How far the stop of a cancelled call was seen: `metadata.stop` of its response and of every
/// confirmation. What is said never goes beyond what is known.
///
/// In order, the weakest last: a whole is worth what its weakest part is.
///
/// ```
/// use caphost::Stop;
///
/// let parts = [Stop::Dropped, Stop::Returned];
/// assert_eq!(parts.into_iter().max(), Some(Stop::Returned));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// The handler never ran.
    NeverStarted,
    /// The Rust future was dropped, and its drop guards have run.
    Dropped,
    /// The JavaScript handler has settled.
    Returned,
    /// What ran the handler was ended, and the end was proven.
    Terminated,
    /// The handler was told, or cannot be told, and was not seen to end. What it still returns is
    /// discarded.
    Abandoned,
}

impl Stop {
    /// All of them, the strongest first.
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

    /// What a peer has written. A peer that says nothing, or a word that is not known here, has not
    /// shown that anything ended: [`Stop::Abandoned`].
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

/// What has reached a handler that runs where it can be ended from outside, such as in a worker.
///
/// In order: each is tried where the one before it has not been enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// It has taken its signal.
    Signal,
    /// It has looked at the flag in shared memory, which needs no turn of its event loop.
    Flag,
    /// What ran it was ended.
    Terminate,
}

impl Step {
    /// All of them, in order.
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

/// What has stopped a handler that runs where it can be ended from outside: `metadata.step` and
/// `metadata.took`, beside [`Stop`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppedBy {
    /// The last step that was taken.
    pub step: Step,
    /// Milliseconds from the first cancel to the end of the call.
    pub took: Millis,
}

/// How a handler ended after its call had been answered as [`Stop::Abandoned`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateEnd {
    /// Whether it returned data rather than failed. The data is discarded either way.
    pub success: bool,
    /// Milliseconds from the end of the call to the end of the handler.
    pub after: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_was_written() {
        for stop in Stop::ALL {
            assert_eq!(Stop::of_peer(Some(stop.as_str())), stop);
        }
    }

    #[test]
    fn a_peer_that_does_not_say_has_shown_nothing() {
        for word in [None, Some(""), Some("stopped"), Some("Dropped")] {
            assert_eq!(Stop::of_peer(word), Stop::Abandoned);
        }
    }

    #[test]
    fn the_weakest_is_the_greatest() {
        assert_eq!(Stop::Dropped.max(Stop::Abandoned), Stop::Abandoned);
        assert_eq!(Stop::ALL.iter().max(), Some(&Stop::Abandoned));
        assert!(Stop::ALL.is_sorted());
    }
}
