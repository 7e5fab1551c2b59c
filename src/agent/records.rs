//! What an agent holds of its pending calls and cancels.

use super::action::{Outgoing, RequestKey};
use crate::call::{CallId, Millis};

pub(super) struct Pending {
    pub id: CallId,
    pub sent: bool,
    /// The agent has sent a cancel that no caller asked for.
    pub cancel_sent: bool,
    /// Why the host has told a caller that this call is not cancelled.
    pub refused: Option<String>,
    /// The cancels of the call that a shutdown has overtaken.
    pub overtaken: Vec<RequestKey>,
    /// How many deadlines are set for the call.
    pub deadlines: usize,
}

/// A call that was made and not sent. The call may have settled since.
pub(super) struct Unsent<P> {
    pub key: RequestKey,
    pub call: Outgoing<P>,
    /// When the call is cancelled if it still waits for a connection.
    pub due: Option<Millis>,
}

pub(super) struct PendingCancel {
    pub call: CallId,
    /// The call to cancel, while that call is pending in this agent.
    pub of: Option<RequestKey>,
    /// Whether somebody waits for the confirmation.
    pub wanted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeadlineOf {
    /// The session is not lost after all: send the calls that were held back.
    Flush,
    /// The host should have timed the call out, or the call has waited too long for a connection: cancel it.
    Backstop(RequestKey),
    /// The call's outcome stays unknown.
    Call(RequestKey),
    /// The cancel stays unconfirmed.
    Cancel(RequestKey),
    /// The list has not come.
    List(RequestKey),
    /// Check whether everything that a shutdown waits for has been answered.
    Shutdown,
    /// Stop waiting for the end of a shutdown.
    Close,
}
