//! The live half of a call: all that hangs on the call until its app has answered, or never will.

use std::sync::Arc;

use crate::broker::PeerId;
use crate::wire::Json;
use caphost::call::Millis;

/// A call of the gateway itself, as its app gets it.
#[derive(Clone, Debug)]
pub struct OwnRequest {
    /// The payload of the `capabilities/call`, with the run's callId.
    pub payload: Json,
    /// The parameters alone, for an app that reads no payloads.
    pub params: Option<Json>,
    /// Milliseconds after which the app is to cancel the call.
    pub timeout: Option<Millis>,
}

/// What a call has that is not over: its run has not ended, or its app has not answered it yet.
#[derive(Debug)]
pub struct Live {
    /// The agent of the call.
    pub agent: PeerId,
    /// The number under which the call went to the app. `None` while the call waits for its session to open.
    pub issued: Option<u64>,
    /// The token of its progress, if that is not the callId.
    pub token: Option<Arc<str>>,
    /// What the app gets, until a call of the gateway itself is sent.
    pub request: Option<Box<OwnRequest>>,
    /// When the app should have cancelled the call at its timeout, and answered it.
    pub timeout: Option<Millis>,
    /// The gateway has cancelled the call at its timeout.
    pub is_overdue: bool,
    /// The agent's cancel of the call, unless the app has refused that.
    pub cancelling: Option<Cancelling>,
    /// The cancel by somebody other than the agent that the app has not answered, if there is any.
    pub revoking: Option<Revoking>,
    /// Until when the app is to answer the call, once it has confirmed the cancel.
    pub response: Option<Millis>,
    /// The deadline that is set.
    pub(super) due: Option<Millis>,
}

/// A cancel of a call by its agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cancelling {
    /// The number it was passed on with.
    pub issued: u64,
    /// Until then others join it.
    pub until: Millis,
    /// The call is given up then: a front makes no call that waits longer.
    pub is_last: bool,
}

/// A cancel of a call by somebody else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revoking {
    /// The number it was passed on with. Those who have asked for it wait for its answer.
    pub issued: u64,
    /// Until then others join it.
    pub until: Millis,
    /// Somebody has joined it: it is sent again if the app has not answered by then.
    pub is_joined: bool,
}

impl Live {
    /// A call of an agent that nobody has cancelled, and that is not sent yet. Its progress may carry a token of
    /// its own. `request` is for a call of the gateway itself.
    pub fn new(agent: PeerId, token: Option<Arc<str>>, request: Option<OwnRequest>) -> Self {
        Live {
            agent,
            issued: None,
            token,
            request: request.map(Box::new),
            timeout: None,
            is_overdue: false,
            cancelling: None,
            revoking: None,
            response: None,
            due: None,
        }
    }

    /// Whether the app has the call.
    pub fn is_sent(&self) -> bool {
        self.issued.is_some()
    }

    /// When the gateway stops waiting for the answer to a cancel, if it waits.
    pub fn confirmation(&self) -> Option<Millis> {
        let cancel = self.cancelling.filter(|cancel| cancel.is_last);
        cancel.map(|cancel| cancel.until)
    }

    /// When a cancel is sent again.
    pub fn again(&self) -> Option<Millis> {
        let joined = self.revoking.filter(|it| it.is_joined);
        joined.map(|revoking| revoking.until)
    }

    /// The next deadline of the call.
    pub(super) fn next(&self) -> Option<Millis> {
        let all = [
            self.response,
            self.confirmation(),
            self.timeout,
            self.again(),
        ];
        all.into_iter().flatten().reduce(Millis::min)
    }

    /// The outcome is known: only the app's answer is still waited for.
    pub(super) fn settle(&mut self) {
        self.timeout = None;
        if let Some(cancel) = &mut self.cancelling {
            cancel.is_last = false;
        }
    }
}
