//! What a scenario finds.

/// Why a requirement was not found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It does not hold, and this was seen.
    Broken(String),
    /// The peer lacks what the requirement is about.
    NotOffered(String),
    /// It could not be looked at, for this reason.
    NotRun(String),
}

/// `Ok` if a requirement holds.
pub type Verdict = Result<(), Finding>;

/// `Err(Broken(…))`, with the words of `format!`.
#[macro_export]
macro_rules! broken {
    ($($words:tt)*) => { return Err($crate::finding::Finding::Broken(format!($($words)*))) };
}
