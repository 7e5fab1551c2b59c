//! The Agentic Browser Protocol, version 0.1, as an envelope on a wire:
//! `{ type, id?, timestamp, payload }`.
//!
//! One file for each half's reading, and one for writing.

mod from_agent;
mod from_app;
#[cfg(test)]
mod tests;
mod write;

pub use from_agent::{Called, read_call, read_initialize};
pub use from_app::receive;
pub use write::*;

/// The only protocol version there is.
pub const VERSION: &str = "0.1";

pub use caphost::dialect::events::{
    CALL_ENDED, CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, LARGE_MESSAGE,
};

/// The types of envelope.
pub mod kind {
    #![allow(missing_docs)]
    pub const INITIALIZE: &str = "initialize";
    pub const INITIALIZE_RESULT: &str = "initialize-result";
    pub const CALL: &str = "capabilities/call";
    pub const CALL_RESULT: &str = "capabilities/call-result";
    pub const CANCEL: &str = "capabilities/cancel";
    pub const CANCEL_RESULT: &str = "capabilities/cancel-result";
    /// caphost's own: list the app's capabilities, with descriptions and schemas.
    pub const LIST: &str = "capabilities/list";
    pub const LIST_RESULT: &str = "capabilities/list-result";
    pub const SHUTDOWN: &str = "shutdown";
    /// caphost's own: sent only to a peer whose `shutdown` carried an id.
    pub const SHUTDOWN_RESULT: &str = "shutdown-result";
    pub const NOTIFICATION: &str = "notification";
    pub const PROGRESS: &str = "progress";
    pub const ELICITATION_RESPONSE: &str = "elicitation/response";
    /// caphost's own: the answer to a frame that is no message of the protocol.
    pub const ERROR: &str = "error";
}

/// An agent's message that the app answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Request {
    /// `initialize`
    Initialize,
    /// `capabilities/cancel`. Before [`Request::Call`], because its answer comes first when both are due.
    Cancel,
    /// `capabilities/call`
    Call,
    /// `capabilities/list`
    List,
    /// `shutdown`
    Shutdown,
}

impl Request {
    /// All requests.
    pub const ALL: [Request; 5] = [
        Request::Initialize,
        Request::Cancel,
        Request::Call,
        Request::List,
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
            Request::Initialize => kind::INITIALIZE,
            Request::Cancel => kind::CANCEL,
            Request::Call => kind::CALL,
            Request::List => kind::LIST,
            Request::Shutdown => kind::SHUTDOWN,
        }
    }

    /// The `type` of its answer.
    pub fn answer(self) -> &'static str {
        match self {
            Request::Initialize => kind::INITIALIZE_RESULT,
            Request::Cancel => kind::CANCEL_RESULT,
            Request::Call => kind::CALL_RESULT,
            Request::List => kind::LIST_RESULT,
            Request::Shutdown => kind::SHUTDOWN_RESULT,
        }
    }
}
