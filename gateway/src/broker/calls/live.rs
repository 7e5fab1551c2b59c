//! The live half of a call: all that hangs on the call until its app has answered, or never will.

use std::sync::Arc;

use crate::broker::PeerId;
use crate::broker::amount::Amount;
use crate::broker::apps::questions::Question;
use crate::broker::calls::outcome::Waiter;
use crate::wire::Json;
use caphost::call::Millis;

/// A call of the gateway itself, as its app gets it.
#[derive(Clone, Debug)]
pub struct CallRequest {
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
    pub request: Option<Box<CallRequest>>,
    /// When the app should have cancelled the call at its timeout, and answered it.
    pub timeout: Option<Millis>,
    /// The gateway has cancelled the call at its timeout.
    pub is_overdue: bool,
    /// The cancel that the app has not answered, if there is one.
    pub cancel: Option<Cancelling>,
    /// Until when the app is to answer the call: its caller has cancelled it, or the app has confirmed a cancel.
    pub give_up: Option<Millis>,
    /// The app's questions to the caller of a front, by the broker's numbers.
    pub(in crate::broker) questions: Vec<(u64, Question)>,
    /// The deadline that is set.
    pub(super) due: Option<Millis>,
}

/// A cancel of a call that the app was asked for.
#[derive(Debug)]
pub struct Cancelling {
    /// The number under which it went to the app.
    pub issued: u64,
    /// Until then others join it.
    pub until: Millis,
    /// Somebody waits who has joined it: it is sent again if the app has not answered by then.
    pub is_joined: bool,
    /// Whether the caller, and whether somebody else, has asked for it. The first of each goes to the app.
    pub by: [bool; 2],
    /// Who waits for the outcome.
    pub askers: Vec<Asker>,
}

/// Who asks for the cancel of a call.
#[derive(Debug)]
pub enum Asker {
    /// The agent on a socket, under its own id of the request, as JSON.
    Agent(Option<Arc<str>>),
    /// The client of a front, or the call's timeout. The end of the call tells the outcome. If the app does not
    /// say in time how the call ends, the call is given up.
    Caller,
    /// Somebody else, such as an operator, who is told the outcome.
    Other(Waiter),
    /// The gateway itself.
    Gateway,
}

impl Asker {
    /// Whether this is somebody other than the caller.
    pub fn is_other(&self) -> bool {
        matches!(self, Asker::Other(_) | Asker::Gateway)
    }

    /// Whether somebody waits to be told the outcome.
    pub fn waits(&self) -> bool {
        match self {
            Asker::Agent(_) => true,
            Asker::Caller | Asker::Gateway => false,
            Asker::Other(waiter) => !waiter.is_closed(),
        }
    }
}

impl Cancelling {
    /// How much the cancel counts for the agent of the call.
    pub(in crate::broker) fn amount(&self) -> Amount {
        let mut amount = Amount::default();
        for asker in &self.askers {
            if let Asker::Agent(id) = asker {
                amount.count = 1;
                amount.bytes += id.as_ref().map_or(0, |id| id.len());
            }
        }
        amount
    }
}

impl Live {
    /// A call of an agent that nobody has cancelled, and that is not sent yet. Its progress may carry a token of
    /// its own. `request` is for a call of the gateway itself.
    pub fn new(agent: PeerId, token: Option<Arc<str>>, request: Option<CallRequest>) -> Self {
        Live {
            agent,
            issued: None,
            token,
            request: request.map(Box::new),
            timeout: None,
            is_overdue: false,
            cancel: None,
            give_up: None,
            questions: Vec::new(),
            due: None,
        }
    }

    /// Whether the app has the call.
    pub fn is_sent(&self) -> bool {
        self.issued.is_some()
    }

    /// When a cancel is sent again.
    pub fn again(&self) -> Option<Millis> {
        let joined = self.cancel.as_ref().filter(|it| it.is_joined);
        joined.map(|cancel| cancel.until)
    }

    /// The next deadline of the call.
    pub(super) fn next(&self) -> Option<Millis> {
        let all = [self.give_up, self.timeout, self.again()];
        all.into_iter().flatten().reduce(Millis::min)
    }
}
