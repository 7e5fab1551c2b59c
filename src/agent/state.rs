//! The agent's state.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::action::{Action, RequestKey};
use super::liveness::Liveness;
use super::records::{DeadlineOf, Pending, PendingCancel, Unsent};
use crate::call::{Code, Deadlines, Ledger, Millis};

/// How long an agent waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentOptions {
    /// How long the host has to answer a cancel or a request for the list of capabilities, and to
    /// answer a call past its timeout: 5 s.
    pub grace: Millis,
    /// How long past its timeout a call is left to the host: 100 ms. Then the agent itself cancels
    /// the call, because some hosts keep no timeouts.
    pub slack: Millis,
    /// How long the host may be silent while calls are pending before it counts as lost. After half
    /// of that time the agent asks for a sign of life. `None` where the transport itself reports a
    /// lost peer.
    pub liveness: Option<Millis>,
    /// Whether the host has announced that it answers when it is asked for a sign of life. The
    /// first silence of any other host may only mean that the host does not answer cancels.
    /// Default: no.
    pub answers: bool,
    /// Whether the shell connects again when the connection is lost. Calls wait meanwhile. Default: no.
    pub reconnects: bool,
    /// How many outcomes are remembered, so that a late confirmation cannot contradict them: 10
    /// 000.
    pub remembered: usize,
}

impl Default for AgentOptions {
    fn default() -> Self {
        AgentOptions {
            grace: 5_000.0,
            slack: 100.0,
            liveness: None,
            answers: false,
            reconnects: false,
            remembered: 10_000,
        }
    }
}

/// One agent on one transport. `P` is the payload type, opaque here.
pub struct AgentState<P> {
    pub(super) options: AgentOptions,
    /// In boxes, so that the table stays small once the calls have settled.
    pub(super) calls: FxHashMap<RequestKey, Box<Pending>>,
    pub(super) unsent: VecDeque<Unsent<P>>,
    /// Whether a call that has not been sent has a timeout.
    pub(super) unsent_timeout: bool,
    /// In boxes, so that the module needs the code of one table for both.
    pub(super) cancels: FxHashMap<RequestKey, Box<PendingCancel>>,
    pub(super) lists: FxHashSet<RequestKey>,
    /// Calls by their ids: the pending calls, and the ends of the last calls.
    pub(super) ledger: Ledger,
    pub(super) deadlines: Deadlines<DeadlineOf>,
    pub(super) actions: VecDeque<Action<P>>,
    pub(super) closed: Option<(Code, &'static str)>,
    /// The connection is lost, and the shell connects again.
    pub(super) away: bool,
    /// Until when calls are held back, because the session may be lost.
    pub(super) held_until: Millis,
    pub(super) shutting_down: Option<RequestKey>,
    pub(super) life: Liveness,
    pub(super) waking: bool,
    next: RequestKey,
}

impl<P: Clone> AgentState<P> {
    /// Makes an agent whose session is open.
    pub fn new(options: AgentOptions) -> Self {
        AgentState {
            options,
            calls: FxHashMap::default(),
            unsent: VecDeque::new(),
            unsent_timeout: false,
            cancels: FxHashMap::default(),
            lists: FxHashSet::default(),
            ledger: Ledger::new(options.remembered),
            deadlines: Deadlines::default(),
            actions: VecDeque::new(),
            closed: None,
            away: false,
            held_until: 0.0,
            shutting_down: None,
            life: Liveness::of(options.answers),
            waking: false,
            next: 0,
        }
    }

    /// The next action. Execute actions in order, and hold no borrow meanwhile.
    pub fn poll_action(&mut self) -> Option<Action<P>> {
        self.actions.pop_front()
    }

    /// How many calls have not settled.
    pub fn pending(&self) -> usize {
        self.calls.len()
    }

    /// How many cancels have not settled.
    pub fn pending_cancels(&self) -> usize {
        self.cancels.len()
    }

    /// How many outcomes are remembered.
    pub fn remembered(&self) -> usize {
        self.ledger.remembered()
    }

    /// How many deadlines are held, with those of calls that have settled meanwhile.
    pub fn deadlines(&self) -> usize {
        self.deadlines.len()
    }

    /// When to call [`AgentState::handle_timeout`] next. `None` means never, unless something
    /// changes.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        let (calls, cancels, lists) = (&self.calls, &self.cancels, &self.lists);
        let closing = self.shutting_down.is_some();
        let next = self
            .deadlines
            .next(|key| live(calls, cancels, lists, closing, key));
        let next = self.life.next().min(next.unwrap_or(f64::INFINITY));
        next.is_finite().then_some(next)
    }

    /// Handles every deadline that has passed.
    pub fn handle_timeout(&mut self, now: Millis) {
        while let Some(key) = self.deadlines.pop_expired(now) {
            match key {
                DeadlineOf::Flush => self.flush(now),
                DeadlineOf::Backstop(key) => self.cancel_quietly(key, None, now),
                DeadlineOf::Call(key) => self.call_unanswered(key),
                DeadlineOf::Cancel(key) => self.cancel_unanswered(key),
                DeadlineOf::List(key) => self.list_unanswered(key),
                DeadlineOf::Shutdown => self.shutdown_soon(now),
                DeadlineOf::Close => self.shutdown_unanswered(),
            }
        }
        self.look_for_life(now);
    }

    /// Notes that `count` deadlines no longer matter, because their call, cancel or list
    /// has settled.
    pub(super) fn forget_deadlines(&mut self, count: usize) {
        let (calls, cancels, lists) = (&self.calls, &self.cancels, &self.lists);
        for _ in 0..count {
            self.deadlines
                .forget(|key| live(calls, cancels, lists, true, key));
        }
    }

    pub(super) fn newest_key(&self) -> RequestKey {
        self.next
    }

    pub(super) fn next_key(&mut self) -> RequestKey {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}

fn live(
    calls: &FxHashMap<RequestKey, Box<Pending>>,
    cancels: &FxHashMap<RequestKey, Box<PendingCancel>>,
    lists: &FxHashSet<RequestKey>,
    closing: bool,
    key: DeadlineOf,
) -> bool {
    match key {
        DeadlineOf::Flush => true,
        DeadlineOf::Backstop(key) | DeadlineOf::Call(key) => calls.contains_key(&key),
        DeadlineOf::Cancel(key) => cancels.contains_key(&key),
        DeadlineOf::List(key) => lists.contains(&key),
        DeadlineOf::Shutdown | DeadlineOf::Close => closing,
    }
}
