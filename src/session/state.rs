//! The host's state, and how it is driven.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::connection::Connection;
use super::elicitation::Elicitation;
use super::{Action, CallEvent, CallState, ConnectionId, ElicitationKey, Limits, ReplyTo, Stop};
use crate::call::{CallId, CallKey, Deadlines, Error, Fifo, KeyMap, Millis};
use crate::capability::{Descriptor, Registered, Registry};

/// What was counted since the host began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls accepted.
    pub calls: u64,
    /// Calls that ended cancelled.
    pub cancelled: u64,
    /// Results that came after their call had ended, and were dropped.
    pub late_results: u64,
    /// Progress that came after its call had ended, and was dropped.
    pub late_progress: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Checking,
    Waiting,
    Ready,
    Running,
}

pub(super) struct Call<P, H> {
    pub id: CallId,
    pub connection: ConnectionId,
    pub capability: Rc<Registered<P, H>>,
    pub phase: Phase,
    pub params: Option<P>,
    pub accepted: Millis,
    pub reply: ReplyTo<P>,
    pub parent: Option<CallKey>,
    pub children: Vec<CallKey>,
    pub token: Option<P>,
    pub has_slot: bool,
    pub has_deadline: bool,
    pub elicitations: Vec<ElicitationKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeadlineOf {
    Call(CallKey),
    Elicitation(ElicitationKey),
}

/// A host of capabilities and the agents on it. `P` is the payload type, opaque here: a `JsValue`
/// in a browser, JSON elsewhere. `H` is what runs a capability.
pub struct HostState<P, H> {
    pub(super) limits: Limits,
    pub(super) registry: Registry<P, H>,
    pub(super) connections: KeyMap<Connection>,
    pub(super) calls: KeyMap<Call<P, H>>,
    pub(super) ready: Fifo<CallKey>,
    pub(super) elicitations: KeyMap<Elicitation>,
    pub(super) deadlines: Deadlines<DeadlineOf>,
    pub(super) actions: Fifo<Action<P, H>>,
    /// What is said once the handlers have been stopped.
    pub(super) responses: Vec<Action<P, H>>,
    pub(super) counters: Counters,
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
            connections: KeyMap::default(),
            calls: KeyMap::default(),
            ready: Fifo::default(),
            elicitations: KeyMap::default(),
            deadlines: Deadlines::default(),
            actions: Fifo::default(),
            responses: Vec::new(),
            counters: Counters::default(),
            watched: false,
            waking: false,
            next: 0,
        }
    }

    /// The next thing to do. Take actions out one by one, in order, with no borrow held.
    pub fn poll_action(&mut self) -> Option<Action<P, H>> {
        self.actions.pop()
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The capabilities registered.
    pub fn registry(&self) -> &Registry<P, H> {
        &self.registry
    }

    /// What was counted.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Calls in flight over all sessions.
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Whether the actions for a watcher are wanted.
    pub fn watch(&mut self, on: bool) {
        self.watched = on;
    }

    /// Adds a capability and tells the agents. False when the name is taken.
    pub fn register(&mut self, descriptor: Descriptor<P>, handler: H) -> bool {
        let name = descriptor.name.clone();
        let added = self.registry.register(descriptor, handler);
        if added {
            self.capabilities_changed(&[name], &[]);
        }
        added
    }

    /// Removes a capability and tells the agents; calls accepted before still run.
    /// False when there is none of that name.
    pub fn unregister(&mut self, name: &str) -> bool {
        let removed = self.registry.unregister(name);
        if removed {
            self.capabilities_changed(&[], &[name.into()]);
        }
        removed
    }

    /// When to call [`HostState::handle_timeout`] next; `None` for never, as things stand.
    pub fn next_deadline(&mut self) -> Option<Millis> {
        let (calls, elicitations) = (&self.calls, &self.elicitations);
        self.deadlines.next(|key| match key {
            DeadlineOf::Call(key) => calls.contains(key),
            DeadlineOf::Elicitation(key) => elicitations.contains(key),
        })
    }

    /// Ends what has come to its deadline.
    pub fn handle_timeout(&mut self, now: Millis) {
        while let Some(key) = self.deadlines.pop_expired(now) {
            match key {
                DeadlineOf::Call(key) => {
                    self.cancel_tree(key, &Stop { reason: None }, now);
                    self.respond();
                }
                DeadlineOf::Elicitation(key) => self.elicitation_timed_out(key),
            }
        }
    }

    pub(super) fn next_key(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        while self.calls.contains(self.next) || self.elicitations.contains(self.next) {
            self.next = self.next.wrapping_add(1);
        }
        self.next
    }

    pub(super) fn forget_deadline(&mut self) {
        let (calls, elicitations) = (&self.calls, &self.elicitations);
        self.deadlines.forget(|key| match key {
            DeadlineOf::Call(key) => calls.contains(key),
            DeadlineOf::Elicitation(key) => elicitations.contains(key),
        });
    }

    pub(super) fn watch_call(&mut self, key: CallKey, state: CallState<P>) {
        if let Some(call) = self.calls.get(key).filter(|_| self.watched) {
            let event = self.event(call, state);
            self.actions.push(Action::Call(event));
        }
    }

    pub(super) fn event(&self, call: &Call<P, H>, state: CallState<P>) -> CallEvent<P> {
        let parent = call.parent.and_then(|parent| self.calls.get(parent));
        CallEvent {
            session: self
                .session_id(call.connection)
                .unwrap_or_else(|| "".into()),
            id: call.id.clone(),
            parent: parent.map(|parent| parent.id.clone()),
            capability: call.capability.descriptor.name.clone(),
            state,
        }
    }

    pub(super) fn wake(&mut self) {
        if !self.waking {
            self.waking = true;
            self.actions.push(Action::Wake);
        }
    }
}

pub(super) fn not_initialized<P>() -> Error<P> {
    Error::new(
        crate::call::Code::NOT_INITIALIZED,
        "There is no session: call initialize first",
    )
}
