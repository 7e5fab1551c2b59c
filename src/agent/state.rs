//! The agent's state, and what it asks its shell to do.

use std::collections::{HashMap, VecDeque};

use super::RequestKey;
use super::calls::{Outgoing, Pending};
use super::cancels::PendingCancel;
use crate::call::{CallId, Code, Deadlines, Error, Ledger, Millis};

/// How long an agent waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentOptions {
    /// How long the host has to answer a cancel, and to answer a call past its timeout: 5 s.
    pub grace: Millis,
    /// How long past its timeout a call is left to the host before the agent itself cancels it,
    /// for a host that keeps no timeouts: 100 ms.
    pub slack: Millis,
    /// How long nothing may be heard while calls are pending before the host counts as gone.
    /// Half of it in silence and the host is asked for a sign of life. `None` where the transport
    /// itself reports a lost peer.
    pub liveness: Option<Millis>,
    /// Outcomes remembered, so that a late confirmation cannot contradict them: 10 000.
    pub remembered: usize,
}

impl Default for AgentOptions {
    fn default() -> Self {
        AgentOptions {
            grace: 5_000.0,
            slack: 100.0,
            liveness: None,
            remembered: 10_000,
        }
    }
}

/// How a call ends for its caller.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled<P> {
    /// With the host's response, as it came.
    Response(P),
    /// Cancelled, and that is a fact: never sent, or confirmed by the host.
    Cancelled,
    /// Without an answer that means anything.
    Failed(Error<P>),
}

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct CancelOutcome<P> {
    /// True only for a confirmed fact.
    pub cancelled: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The host's error, as it came.
    pub error: Option<Result<P, Error<P>>>,
}

impl<P> CancelOutcome<P> {
    pub(super) const CANCELLED: Self = CancelOutcome {
        cancelled: true,
        reason: None,
        error: None,
    };

    pub(super) fn refused(reason: &str) -> Self {
        CancelOutcome {
            cancelled: false,
            reason: Some(reason.into()),
            error: None,
        }
    }

    pub(super) fn failed(reason: Option<&str>, error: Error<P>) -> Self {
        CancelOutcome {
            cancelled: false,
            reason: reason.map(Into::into),
            error: Some(Err(error)),
        }
    }
}

/// Something to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<P> {
    /// A call.
    Call(Outgoing<P>),
    /// A cancel of a call.
    Cancel {
        /// Its callId.
        call: CallId,
        /// For logs and the handler.
        reason: Option<String>,
    },
    /// The end of the session.
    Shutdown {
        /// For logs.
        reason: Option<String>,
    },
}

/// One thing to do, strictly in the order they come out.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<P> {
    /// Call [`AgentState::flush`] soon, but not before the current event has been dealt with:
    /// what is aborted until then is never sent.
    Wake,
    /// Send a request under this id.
    Send(RequestKey, Request<P>),
    /// Settle a call.
    Settle(RequestKey, Settled<P>),
    /// Settle a cancel.
    SettleCancel(RequestKey, CancelOutcome<P>),
    /// Settle a shutdown.
    SettleShutdown,
    /// Hand progress to a call's listener.
    Progress(RequestKey, P),
    /// The host counts as gone: close the transport.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeadlineOf {
    /// The host should have timed the call out: cancel it.
    Backstop(RequestKey),
    /// The call's outcome stays unknown.
    Call(RequestKey),
    /// The cancel stays unconfirmed.
    Cancel(RequestKey),
    /// The shutdown has had time enough; whether that is final.
    Shutdown(bool),
    /// Look whether the host has been heard of.
    Liveness,
    /// A sign of life was demanded by now.
    Probe(RequestKey),
}

/// One agent on one transport. `P` is the payload type, opaque here.
pub struct AgentState<P> {
    pub(super) options: AgentOptions,
    pub(super) calls: HashMap<RequestKey, Pending<P>>,
    pub(super) by_id: HashMap<CallId, RequestKey>,
    pub(super) unsent: VecDeque<RequestKey>,
    pub(super) cancels: HashMap<RequestKey, PendingCancel>,
    pub(super) outcomes: Ledger,
    pub(super) deadlines: Deadlines<DeadlineOf>,
    pub(super) actions: VecDeque<Action<P>>,
    pub(super) closed: Option<(Code, &'static str)>,
    pub(super) shutting_down: Option<RequestKey>,
    pub(super) heard: Millis,
    pub(super) watching: bool,
    pub(super) waking: bool,
    next: RequestKey,
}

impl<P: Clone> AgentState<P> {
    /// An agent whose session is open.
    pub fn new(options: AgentOptions) -> Self {
        AgentState {
            options,
            calls: HashMap::new(),
            by_id: HashMap::new(),
            unsent: VecDeque::new(),
            cancels: HashMap::new(),
            outcomes: Ledger::new(options.remembered),
            deadlines: Deadlines::default(),
            actions: VecDeque::new(),
            closed: None,
            shutting_down: None,
            heard: 0.0,
            watching: false,
            waking: false,
            next: 0,
        }
    }

    /// The next thing to do. Take actions out one by one, in order, with no borrow held.
    pub fn poll_action(&mut self) -> Option<Action<P>> {
        let action = self.actions.pop_front();
        if action.is_none() && self.actions.capacity() > 1_024 {
            self.actions = VecDeque::new();
        }
        action
    }

    /// Calls that have not settled.
    pub fn pending(&self) -> usize {
        self.calls.len()
    }

    /// Cancels that have not settled.
    pub fn pending_cancels(&self) -> usize {
        self.cancels.len()
    }

    /// When to call [`AgentState::handle_timeout`] next; `None` for never, as things stand.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        let (calls, cancels) = (&self.calls, &self.cancels);
        let closing = self.shutting_down.is_some();
        let watching = self.watching;
        self.deadlines.next(|key| match key {
            DeadlineOf::Backstop(key) | DeadlineOf::Call(key) => calls.contains_key(&key),
            DeadlineOf::Cancel(key) | DeadlineOf::Probe(key) => cancels.contains_key(&key),
            DeadlineOf::Shutdown(_) => closing,
            DeadlineOf::Liveness => watching,
        })
    }

    /// Deals with what has come to its deadline.
    pub fn handle_timeout(&mut self, now: Millis) {
        while let Some(key) = self.deadlines.pop_expired(now) {
            match key {
                DeadlineOf::Backstop(key) => self.backstop(key, now),
                DeadlineOf::Call(key) => self.call_unanswered(key, now),
                DeadlineOf::Cancel(key) => self.cancel_unanswered(key),
                DeadlineOf::Shutdown(last) => self.shutdown_unanswered(last),
                DeadlineOf::Liveness => self.look_for_life(now),
                DeadlineOf::Probe(key) => {
                    if self.cancels.contains_key(&key) {
                        self.lost();
                    }
                }
            }
        }
    }

    pub(super) fn forget_deadline(&mut self) {
        let (calls, cancels) = (&self.calls, &self.cancels);
        self.deadlines.forget(|key| match key {
            DeadlineOf::Backstop(key) | DeadlineOf::Call(key) => calls.contains_key(&key),
            DeadlineOf::Cancel(key) | DeadlineOf::Probe(key) => cancels.contains_key(&key),
            DeadlineOf::Shutdown(_) | DeadlineOf::Liveness => true,
        });
    }

    pub(super) fn next_key(&mut self) -> RequestKey {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}
