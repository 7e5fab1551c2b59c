//! The requests an agent makes, and the types of their answers.

/// A message of an agent that the app answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    /// `initialize`
    Initialize,
    /// `capabilities/cancel`. Before [`Request::Call`], as their answers are when both are due.
    Cancel,
    /// `capabilities/call`
    Call,
    /// `shutdown`
    Shutdown,
}

impl Request {
    /// All of them.
    pub const ALL: [Request; 4] = [
        Request::Initialize,
        Request::Cancel,
        Request::Call,
        Request::Shutdown,
    ];

    /// The request with that `type`.
    pub fn of(kind: &str) -> Option<Request> {
        Self::ALL.into_iter().find(|it| it.kind() == kind)
    }

    /// The request whose answer has that `type`.
    pub fn answered_by(kind: &str) -> Option<Request> {
        Self::ALL.into_iter().find(|it| it.answer() == kind)
    }

    /// Its `type`.
    pub fn kind(self) -> &'static str {
        match self {
            Request::Initialize => "initialize",
            Request::Cancel => "capabilities/cancel",
            Request::Call => "capabilities/call",
            Request::Shutdown => "shutdown",
        }
    }

    /// The `type` of its answer.
    pub fn answer(self) -> &'static str {
        match self {
            Request::Initialize => "initialize-result",
            Request::Cancel => "capabilities/cancel-result",
            Request::Call => "capabilities/call-result",
            Request::Shutdown => "shutdown-result",
        }
    }
}
