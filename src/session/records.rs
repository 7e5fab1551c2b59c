//! What a host holds of its connections, sessions, calls and questions.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::action::{Asked, ReplyTo};
use super::limits::Rate;
use super::scope::Scope;
use super::terms::{Agent, CancelKey, ConnectionId, ElicitationKey, Features, Party};
use crate::call::{CallId, CallKey, Ledger, Millis, Step, Stop};
use crate::offers::Registered;

/// A transport, and the session on it, if there is any.
pub(super) struct Connection {
    pub session: Option<Session>,
    pub party: Party,
}

pub(super) struct Session {
    pub id: Rc<str>,
    pub agent: Agent,
    pub features: Features,
    pub scope: Scope,
    pub ledger: Ledger,
    /// Bytes of the calls in flight.
    pub bytes: usize,
    /// How many calls wait for consent.
    pub asked: usize,
    pub rate: Rate,
    /// How the agent answers when it is asked for a sign of life, if it does.
    pub life: Option<Life>,
}

/// A session that ends with the last of its calls.
pub(super) struct Closing<P> {
    pub session: Rc<str>,
    pub agent: Agent,
    pub connection: ConnectionId,
    /// The calls in flight.
    pub ledger: Ledger,
    /// The connection that asked for the end, if it is still there, and the id of its request.
    pub asker: Option<(ConnectionId, Option<P>)>,
}

/// What is known of an agent that answers when it is asked.
pub(super) struct Life {
    /// A message has come since the last question.
    pub heard: bool,
    pub asked: Millis,
    /// The questions in a row that have no answer.
    pub unanswered: u8,
}

/// When the host looks after its agents.
#[derive(Default)]
pub(super) struct Looks {
    /// Milliseconds from one look to the next.
    pub every: Millis,
    pub next: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Checking,
    /// A person is asked whether the call may start.
    Asking(Asked),
    Waiting,
    Ready,
    Running,
    /// The call was told to end. The party that cancelled it waits for the outcome.
    Stopping,
}

/// The call that made another.
pub(super) struct Parent {
    pub key: CallKey,
    pub id: CallId,
    /// The calls that it made next before and after this one, of those in flight.
    pub before: Option<CallKey>,
    pub after: Option<CallKey>,
}

/// The calls in flight that a call has made, oldest first: a list through their [`Parent`], which
/// each leaves at the same cost.
#[derive(Clone, Copy, Default)]
pub(super) struct Children {
    pub first: Option<CallKey>,
    pub last: Option<CallKey>,
    pub count: usize,
}

pub(super) struct Call<P, H> {
    pub id: CallId,
    pub connection: ConnectionId,
    /// The session of the call, which may be over before the call is.
    pub session: Rc<str>,
    pub capability: Rc<Registered<P, H>>,
    pub phase: Phase,
    pub params: Option<P>,
    pub accepted: Millis,
    pub reply: ReplyTo<P>,
    pub parent: Option<Box<Parent>>,
    pub stopping: Stopping,
    /// In a box of its own, as most calls have nothing of it.
    pub more: Option<Box<More<P, H>>>,
    pub token: Option<P>,
    /// How many bytes this call adds to those in flight.
    pub bytes: usize,
    pub has_slot: bool,
    /// How many deadlines are set for the call.
    pub deadlines: usize,
}

/// What only some calls have.
pub(super) struct More<P, H> {
    pub children: Children,
    /// For which capabilities the calls below wait, and how many of them do.
    pub awaited: Vec<(Rc<Registered<P, H>>, usize)>,
    /// How many of the calls that this call made were abandoned and have not ended.
    pub abandoned_below: usize,
    /// Who waits for the cancel of this call, and for which reason.
    pub askers: Vec<(Asker<P>, Option<Rc<str>>)>,
    pub elicitations: FxHashSet<ElicitationKey>,
    /// What was reported of its progress.
    pub told: Told<P>,
}

impl<P, H> Default for More<P, H> {
    fn default() -> Self {
        More {
            children: Children::default(),
            awaited: Vec::new(),
            abandoned_below: 0,
            askers: Vec::new(),
            elicitations: FxHashSet::default(),
            told: Told::default(),
        }
    }
}

impl<P, H> Call<P, H> {
    pub fn more(&mut self) -> &mut More<P, H> {
        self.more.get_or_insert_default()
    }

    pub fn children(&self) -> Children {
        let more = self.more.as_ref();
        more.map_or_else(Children::default, |more| more.children)
    }

    pub fn awaited(&self) -> &[(Rc<Registered<P, H>>, usize)] {
        self.more.as_ref().map_or(&[], |more| &more.awaited)
    }

    pub fn abandoned_below(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.abandoned_below)
    }

    /// Takes one of the collections out.
    pub fn take<T: Default>(&mut self, list: impl FnOnce(&mut More<P, H>) -> &mut T) -> T {
        let more = self.more.as_mut();
        more.map_or_else(T::default, |more| std::mem::take(list(more)))
    }
}

/// What is known about a call that is being stopped.
#[derive(Default)]
pub(super) struct Stopping {
    pub reason: Option<Rc<str>>,
    /// Whether the handler knows of the stop: it has taken its signal, or the cancel has ended one
    /// of its own calls or questions.
    pub told: bool,
    /// How far the stop of its own handler was seen, once that is known.
    pub own: Option<Stop>,
    /// The weakest grade of the calls below that were stopped with this call.
    pub below: Option<Stop>,
    /// When the handler was told.
    pub since: Millis,
    /// What has reached the handler, if it can be ended from outside.
    pub step: Option<Step>,
}

/// Who waits for the outcome of a cancel.
pub(super) enum Asker<P> {
    /// An agent: the id of its request, and the callId as it was written.
    Agent(ConnectionId, Option<P>, P),
    /// The app itself.
    App(CancelKey),
}

/// What was reported of one call.
pub(super) struct Told<P> {
    pub count: u32,
    pub at: Millis,
    /// The newest report, if it waits for its frame.
    pub waiting: Option<P>,
    /// A deadline is set for the waiting report.
    pub armed: bool,
}

impl<P> Default for Told<P> {
    fn default() -> Self {
        Told {
            count: 0,
            at: 0.0,
            waiting: None,
            armed: false,
        }
    }
}

/// A call that was answered as abandoned and whose work has not ended.
pub(super) struct Abandoned {
    pub connection: ConnectionId,
    pub session: Rc<str>,
    pub id: CallId,
    pub parent: Option<CallKey>,
    /// When the call was answered.
    pub since: Millis,
    /// The handler of the call itself still runs.
    pub runs: bool,
    /// How many of the calls that this call made have not ended.
    pub below: usize,
    pub success: bool,
}

/// Abandoned calls by their keys.
pub(super) type AbandonedCalls = FxHashMap<CallKey, Box<Abandoned>>;

pub(super) struct Elicitation {
    pub connection: ConnectionId,
    pub call: Option<CallKey>,
}

/// The names that agents are still to be told of, in their order, as in the registry. The flag says
/// whether the name was registered when agents were last told.
pub(super) type Untold = Vec<(Rc<str>, bool)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeadlineOf {
    Call(CallKey),
    /// The grace of a handler is over, or the time for the proof of its end.
    Settle(CallKey),
    Elicitation(ElicitationKey),
    /// The next report of progress may go out.
    Progress(CallKey),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_flight_is_small() {
        // On 64 bits. In the page, where pointers have 32 bits, it takes two thirds.
        let bytes = size_of::<Call<u64, u64>>();
        assert!(bytes <= 200, "{bytes}");
    }
}
