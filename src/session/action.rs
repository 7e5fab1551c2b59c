//! What the host asks its shell to do.

use std::rc::Rc;

use super::terms::{
    Agent, CancelKey, Cancelled, Changes, ConnectionId, ElicitationKey, Initialized,
};
use crate::call::{CallId, CallKey, CancelAnswer, Error, LateEnd, Response};

/// Who is waiting for a call's response.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyTo<P> {
    /// An agent, under the id its request came with.
    Agent(ConnectionId, Option<P>),
    /// The capability that made the call: the shell hands it over by the child's key.
    Parent,
    /// Nobody: the caller has gone.
    Nobody,
}

/// Who asks a person whether a call may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The app, in its own interface.
    App,
    /// The agent that has called.
    Agent,
}

/// The new state of a call, for observers of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState<P> {
    /// Accepted, waiting for its turn. Carries the parameters.
    Queued(P),
    /// A person is asked whether the call may start, or has allowed it. The key and the parameters
    /// of the call, and who asks; `None` if the call is allowed. This is told without observers
    /// too: if the agent is to ask, the shell asks it with [`super::HostState::elicit`]. The answer
    /// is reported with [`super::HostState::consent`].
    Consent(CallKey, Option<Asked>, P),
    /// Its handler runs.
    Running,
    /// It ended.
    Ended(Response<P>, Option<Rc<str>>),
}

/// A step in a call's life.
#[derive(Clone, Debug, PartialEq)]
pub struct CallEvent<P> {
    /// The session it belongs to.
    pub session: Rc<str>,
    /// The call.
    pub id: CallId,
    /// The call that made it, if a capability did.
    pub parent: Option<CallId>,
    /// What was called.
    pub capability: Rc<str>,
    /// What happened.
    pub state: CallState<P>,
}

/// An answer to one of an agent's requests other than a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<P> {
    /// To `initialize`.
    Initialized(Result<Initialized<P>, Error<P>>),
    /// To a cancel: the callId as it was given, and what came of it.
    Cancelled(P, Cancelled<P>),
    /// To `shutdown`.
    ShutDown(Result<(), Error<P>>),
}

/// One thing to do. `P` is the payload type, `H` what runs a capability.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<P, H> {
    /// Call [`super::HostState::run_ready`] soon, but not before the current event has been dealt
    /// with: what is cancelled until then never starts, and what is registered until then is told
    /// of in one.
    Wake,
    /// Check the parameters, then report with [`super::HostState::checked`].
    Check {
        /// The call.
        key: CallKey,
        /// What is called.
        capability: Rc<str>,
        /// What the agent gave.
        params: P,
    },
    /// Run the handler, then report with [`super::HostState::settle`].
    Start {
        /// The call.
        key: CallKey,
        /// Its callId.
        id: CallId,
        /// What is called.
        capability: Rc<str>,
        /// What runs it.
        handler: H,
        /// What the agent gave.
        params: P,
    },
    /// Drop the future, fire the signal; before any later action, and for good. A handler that is
    /// given time to end is still to be reported with [`super::HostState::settle`].
    Stop {
        /// The call.
        key: CallKey,
        /// Text for logs and the handler, never for decisions.
        reason: Option<Rc<str>>,
    },
    /// End from outside what runs the handler, which was told and has not ended, then report with
    /// [`super::HostState::stopped`] what is proven of that: [`crate::call::Stop::Terminated`], or
    /// [`crate::call::Stop::Abandoned`] where nothing can be. Only of [`Ending::Forced`].
    ///
    /// [`Ending::Forced`]: crate::offers::Ending::Forced
    Terminate {
        /// The call.
        key: CallKey,
    },
    /// Give a call's response to its caller.
    Respond {
        /// The call.
        key: CallKey,
        /// Who waits for it.
        to: ReplyTo<P>,
        /// How it ended.
        response: Response<P>,
    },
    /// Answer a request, under the id it came with.
    Answer {
        /// Who asked.
        to: ConnectionId,
        /// The id of the request.
        id: Option<P>,
        /// What is said.
        answer: Answer<P>,
    },
    /// Tell the app what came of a cancel of its own, asked for with
    /// [`super::HostState::cancel_here`].
    Confirm {
        /// What that gave.
        key: CancelKey,
        /// What is said.
        answer: Cancelled<P>,
    },
    /// Tell an agent that the handler of its abandoned call has ended.
    CallEnded {
        /// Whose call it was.
        to: ConnectionId,
        /// The call.
        id: CallId,
        /// How.
        end: LateEnd,
    },
    /// Tell an agent how far its call is.
    Progress {
        /// Whose call it is.
        to: ConnectionId,
        /// The call.
        id: CallId,
        /// The agent's, if it gave one.
        token: Option<P>,
        /// As the handler wrote it.
        info: P,
    },
    /// Ask an agent, under an id made from the key.
    Elicit {
        /// Who is asked.
        to: ConnectionId,
        /// The question.
        key: ElicitationKey,
        /// What is asked.
        request: P,
    },
    /// Tell an agent that its answer is no longer wanted.
    Withdraw {
        /// Who was asked.
        to: ConnectionId,
        /// The question.
        key: ElicitationKey,
    },
    /// Hand an answer over to the asker. A cancelled answer is [`crate::call::Outcome::Cancelled`].
    Elicited {
        /// The question.
        key: ElicitationKey,
        /// What came of it.
        response: Response<P>,
    },
    /// Send an agent a notification.
    Notify {
        /// Who is told.
        to: ConnectionId,
        /// Its name.
        event: Rc<str>,
        /// What goes with it.
        data: Option<P>,
    },
    /// The set of capabilities has changed.
    CapabilitiesChanged {
        /// Who is told.
        to: ConnectionId,
        /// The changes since that agent was last told.
        changes: Rc<Changes>,
    },
    /// An agent gives no sign of life: let go of its connection.
    Lost {
        /// Which.
        agent: ConnectionId,
    },
    /// For an observer: a call went on. Only sent while [`super::HostState::watch`] is on, except
    /// for [`CallState::Consent`].
    Call(CallEvent<P>),
    /// For an observer: a call made progress.
    Progressed {
        /// The session it belongs to.
        session: Rc<str>,
        /// The call.
        id: CallId,
        /// As the handler wrote it.
        info: P,
    },
    /// For an observer: a call is asked to stop, and is not known to have stopped. A call that ends
    /// at once has no such step.
    Cancelling {
        /// The session of the call.
        session: Rc<str>,
        /// The call.
        id: CallId,
        /// Why the call is asked to stop.
        reason: Option<Rc<str>>,
    },
    /// For an observer: a cancel of a call that the session knows was answered.
    CancelAnswered {
        /// The session it belongs to.
        session: Rc<str>,
        /// The call.
        id: CallId,
        /// What was answered.
        answer: CancelAnswer,
        /// The reason that came with the cancel.
        reason: Option<Rc<str>>,
    },
    /// For an observer: the handler of an abandoned call has ended.
    EndedLate {
        /// The session it belongs to.
        session: Rc<str>,
        /// The call.
        id: CallId,
        /// How the handler ended.
        end: LateEnd,
    },
    /// For an observer: a session opened (`true`) or closed.
    Session {
        /// Its id.
        session: Rc<str>,
        /// The agent of the session.
        agent: Agent,
        /// Whether it opened.
        open: bool,
    },
}
