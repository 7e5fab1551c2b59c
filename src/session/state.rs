//! The host's state, and how it is driven.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::action::{Action, CallEvent, CallState};
use super::limits::Limits;
use super::records::{
    AbandonedCalls, Call, Closing, Connection, DeadlineOf, Elicitation, Looks, Phase, Untold,
};
use super::terms::{ConnectionId, ElicitationKey};
use crate::call::{CallKey, Deadlines, Error, Millis, in_order};
use crate::offers::{Descriptor, Registry};

/// Counters since the host began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls accepted.
    pub calls: u64,
    /// Calls that ended cancelled.
    pub cancelled: u64,
    /// Results that came after their call had ended, and were dropped.
    pub late_results: u64,
    /// How many of those ended a call that had been answered as abandoned, with all of its work.
    pub ended_late: u64,
    /// Progress that came after its call had ended, and was dropped.
    pub late_progress: u64,
}

/// An empty table with more room than this gives the room back.
const ROOMY: usize = 1_024;

/// A host of capabilities, and the agents on it. `P` is the payload type, opaque here: a `JsValue`
/// in a browser, JSON elsewhere. `H` runs a capability.
pub struct HostState<P, H> {
    pub(super) limits: Limits,
    pub(super) registry: Registry<P, H>,
    pub(super) connections: FxHashMap<ConnectionId, Box<Connection>>,
    /// In boxes, so that the table stays small once the calls have ended. So are the values of the other
    /// tables, and the module needs the code of one table for all.
    pub(super) calls: FxHashMap<CallKey, Box<Call<P, H>>>,
    pub(super) abandoned: AbandonedCalls,
    pub(super) closing: Vec<Closing<P>>,
    pub(super) untold: Untold,
    pub(super) ready: VecDeque<CallKey>,
    /// How many of the ready calls start before the next turn of the event loop.
    pub(super) turn: usize,
    pub(super) elicitations: FxHashMap<ElicitationKey, Box<Elicitation>>,
    pub(super) deadlines: Deadlines<DeadlineOf>,
    pub(super) looks: Looks,
    pub(super) actions: VecDeque<Action<P, H>>,
    pub(super) counters: Counters,
    /// How many interfaces of the app show the calls that wait for consent.
    pub(super) interfaces: usize,
    pub(super) watched: bool,
    pub(super) waking: bool,
    next: u32,
}

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A host with no capabilities and no agents.
    pub fn new(limits: Limits) -> Self {
        HostState {
            limits,
            registry: Registry::default(),
            connections: FxHashMap::default(),
            calls: FxHashMap::default(),
            abandoned: AbandonedCalls::default(),
            closing: Vec::new(),
            untold: Untold::new(),
            ready: VecDeque::new(),
            turn: 0,
            elicitations: FxHashMap::default(),
            deadlines: Deadlines::default(),
            looks: Looks::default(),
            actions: VecDeque::new(),
            counters: Counters::default(),
            interfaces: 0,
            watched: false,
            waking: false,
            next: 0,
        }
    }

    /// The next action. Execute actions in order, and hold no borrow meanwhile.
    ///
    /// A handler starts when no other action is left.
    pub fn poll_action(&mut self) -> Option<Action<P, H>> {
        self.poll_consequence().or_else(|| self.start_next())
    }

    /// The next action that starts no handler. For a shell that is called back by a handler that is
    /// just starting: a second start from there would stand on the stack of the first.
    pub fn poll_consequence(&mut self) -> Option<Action<P, H>> {
        let action = self.actions.pop_front();
        if action.is_none() && self.actions.capacity() > ROOMY {
            self.actions = VecDeque::new();
        }
        if self.calls.is_empty() && self.calls.capacity() > ROOMY {
            self.calls = FxHashMap::default();
        }
        action
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The registered capabilities.
    pub fn registry(&self) -> &Registry<P, H> {
        &self.registry
    }

    /// The counters since the host began.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many calls of all sessions are in flight.
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Turns the actions for an observer on or off.
    pub fn watch(&mut self, on: bool) {
        self.watched = on;
    }

    /// Adds a capability and tells the agents. False when the name is taken.
    pub fn register(&mut self, descriptor: Descriptor<P>, handler: H) -> bool {
        let name = descriptor.name.clone();
        let added = self.registry.register(descriptor, handler);
        if added {
            self.note_change(name, false);
        }
        added
    }

    /// Removes a capability and tells the agents. Accepted calls still run. False when there is no
    /// capability of that name.
    pub fn unregister(&mut self, name: &str) -> bool {
        let removed = self.registry.unregister(name);
        if removed {
            self.note_change(name.into(), true);
        }
        removed
    }

    /// When to call [`HostState::handle_timeout`] next. `None` means never, unless something
    /// changes.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        let (calls, elicitations) = (&self.calls, &self.elicitations);
        let next = self.deadlines.next(|of| is_live(of, calls, elicitations));
        let next = self.next_look().min(next.unwrap_or(f64::INFINITY));
        next.is_finite().then_some(next)
    }

    /// Handles every deadline that has passed.
    pub fn handle_timeout(&mut self, now: Millis) {
        while let Some(key) = self.deadlines.pop_expired(now) {
            match key {
                DeadlineOf::Call(key) => self.cancel_tree(key, None, now),
                DeadlineOf::Settle(key) => self.time_is_over(key, now),
                DeadlineOf::Elicitation(key) => self.elicitation_timed_out(key),
                DeadlineOf::Progress(key) => self.progress_is_due(key, now),
            }
        }
        self.look_after_agents(now);
    }

    /// The keys of the calls in that phase and of that connection, in the order of the calls.
    #[inline(never)]
    pub(super) fn calls_in(&self, phase: Option<Phase>, of: Option<ConnectionId>) -> Vec<CallKey> {
        self.calls_where(|call| {
            phase.is_none_or(|it| it == call.phase) && of.is_none_or(|it| it == call.connection)
        })
    }

    /// The keys of the calls that `is_meant` picks, in the order of the calls.
    pub(super) fn calls_where(&self, is_meant: impl Fn(&Call<P, H>) -> bool) -> Vec<CallKey> {
        let calls = self.calls.iter().filter(|(_, call)| is_meant(call));
        in_order(calls.map(|(key, _)| *key))
    }

    pub(super) fn next_key(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        while self.calls.contains_key(&self.next) || self.elicitations.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        self.next
    }

    pub(super) fn forget_deadline(&mut self) {
        let (calls, elicitations) = (&self.calls, &self.elicitations);
        self.deadlines.forget(|of| is_live(of, calls, elicitations));
    }

    pub(super) fn watch_call(&mut self, key: CallKey, state: CallState<P>) {
        if self.watched
            && let Some(call) = self.calls.get(&key)
        {
            let event = self.event(call, state);
            self.actions.push_back(Action::Call(event));
        }
    }

    pub(super) fn event(&self, call: &Call<P, H>, state: CallState<P>) -> CallEvent<P> {
        CallEvent {
            session: call.session.clone(),
            id: call.id.clone(),
            parent: call.parent.as_ref().map(|parent| parent.id.clone()),
            capability: call.capability.descriptor.name.clone(),
            state,
        }
    }

    pub(super) fn wake(&mut self) {
        if !self.waking {
            self.waking = true;
            self.actions.push_back(Action::Wake);
        }
    }
}

/// Whether the call or question of a deadline has not ended.
fn is_live<C>(
    of: DeadlineOf,
    calls: &FxHashMap<CallKey, C>,
    elicitations: &FxHashMap<ElicitationKey, Box<Elicitation>>,
) -> bool {
    match of {
        DeadlineOf::Elicitation(key) => elicitations.contains_key(&key),
        DeadlineOf::Call(key) | DeadlineOf::Settle(key) | DeadlineOf::Progress(key) => {
            calls.contains_key(&key)
        }
    }
}

pub(super) fn not_initialized<P>() -> Error<P> {
    Error::new(
        crate::call::Code::NOT_INITIALIZED,
        "There is no session: call initialize first",
    )
}
