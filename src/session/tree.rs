//! Ending calls, alone or with everything they started.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::state::{Call, Phase};
use super::{Action, CallState, ConnectionId, HostState, ReplyTo, Stop};
use crate::call::{CallKey, End, Millis, Outcome, Response};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Ends one call by itself. What it started and did not wait for is cancelled with it.
    pub(super) fn end(
        &mut self,
        key: CallKey,
        outcome: Outcome<P>,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        let stop = Stop {
            reason: Some("The call that made this one has ended".into()),
        };
        let children = self
            .calls
            .get_mut(key)
            .map(|call| core::mem::take(&mut call.children));
        for child in children.unwrap_or_default() {
            self.cancel_tree(child, &stop, now);
        }
        self.finish(key, outcome, reason, now);
        self.respond();
    }

    /// Queues the responses held back.
    pub(super) fn respond(&mut self) {
        let responses = core::mem::take(&mut self.responses);
        self.actions.extend(responses);
    }

    /// Cancels a call and everything below it, leaves first. The stops are queued; the responses
    /// are held back, because the answer to the cancel goes before them.
    pub(super) fn cancel_tree(&mut self, key: CallKey, stop: &Stop, now: Millis) {
        for key in self.leaves_first(key) {
            if self
                .calls
                .get(key)
                .is_some_and(|call| call.phase == Phase::Running)
            {
                let stop = stop.clone();
                self.actions.push(Action::Stop { key, stop });
            }
            self.finish(key, Outcome::Cancelled, stop.reason.clone(), now);
        }
    }

    /// Cancels every call of a connection; the responses are held back.
    pub(super) fn cancel_all(&mut self, connection: ConnectionId, stop: &Stop, now: Millis) {
        for key in self.calls.keys_where(|call| call.connection == connection) {
            self.cancel_tree(key, stop, now);
        }
    }

    /// The tree below a call, children before parents, the call itself last.
    fn leaves_first(&self, root: CallKey) -> Vec<CallKey> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(key) = stack.pop() {
            if let Some(call) = self.calls.get(key) {
                order.push(key);
                stack.extend(&call.children);
            }
        }
        order.reverse();
        order
    }

    pub(super) fn has_ancestor_of_same_capability(&self, call: &Call<P, H>) -> bool {
        let mut parent = call.parent;
        while let Some(ancestor) = parent.and_then(|key| self.calls.get(key)) {
            if Rc::ptr_eq(&ancestor.capability, &call.capability) {
                return true;
            }
            parent = ancestor.parent;
        }
        false
    }

    /// Takes a call out of the books: remembers its end, frees its slot, withdraws its questions.
    fn finish(&mut self, key: CallKey, outcome: Outcome<P>, reason: Option<Rc<str>>, now: Millis) {
        let Some(call) = self.calls.remove(key) else {
            return;
        };
        let cancelled = outcome.is_cancelled();
        if let Some(session) = self.session_mut(call.connection) {
            let end = if cancelled {
                End::Cancelled
            } else {
                End::Completed
            };
            session.ledger.end(&call.id, end);
        }
        self.counters.cancelled += u64::from(cancelled);
        self.free_slot(key, &call);
        for elicitation in &call.elicitations {
            self.withdraw(*elicitation);
        }
        if call.has_deadline {
            self.forget_deadline();
        }
        if let Some(parent) = call.parent.and_then(|parent| self.calls.get_mut(parent)) {
            parent.children.retain(|child| *child != key);
        }
        let response = Response {
            outcome,
            duration: Some((now - call.accepted).max(0.0)),
        };
        if self.watched {
            let state = CallState::Ended(response.clone(), reason);
            let event = self.event(&call, state);
            self.responses.push(Action::Call(event));
        }
        let to: ReplyTo<P> = call.reply;
        self.responses.push(Action::Respond { key, to, response });
    }

    fn free_slot(&mut self, key: CallKey, call: &Call<P, H>) {
        let mut slots = call.capability.slots.borrow_mut();
        if call.has_slot {
            let next = slots.leave();
            if let Some(next) = next.and_then(|next| self.calls.get_mut(next).map(|it| (next, it)))
            {
                let (next_key, waiting) = next;
                waiting.has_slot = true;
                waiting.phase = Phase::Ready;
                self.ready.push(next_key);
                drop(slots);
                self.wake();
            }
        } else if call.phase == Phase::Waiting {
            slots.abandon(key);
        }
    }
}
