//! The end of calls: what is remembered, freed and answered.

use std::rc::Rc;

use super::action::{Action, Answer, CallState, ReplyTo};
use super::records::{Asker, Call, Parent, Phase};
use super::state::HostState;
use super::stopping::PARENT_ENDED;
use crate::call::{CallKey, CancelAnswer, End, Millis, Outcome, Response, Stop, in_order};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Ends one call with the result of its handler. Calls that the handler made and did not wait
    /// for are cancelled.
    pub(super) fn end(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) {
        for child in self.children_of(key) {
            self.cancel_tree(child, Some(&PARENT_ENDED.into()), now);
        }
        self.finish(key, outcome, now);
    }

    /// The calls of a tree that `is_meant` picks, children before parents, the root last. Below a
    /// call that is not picked, nothing is.
    pub(super) fn leaves_first(
        &self,
        root: CallKey,
        is_meant: impl Fn(&Call<P, H>) -> bool,
    ) -> Vec<CallKey> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(key) = stack.pop() {
            if self.calls.get(&key).is_some_and(|call| is_meant(call)) {
                order.push(key);
                stack.extend(self.children_of(key));
            }
        }
        order.reverse();
        order
    }

    /// The calls in flight that a call has made, oldest first.
    pub(super) fn children_of(&self, key: CallKey) -> Vec<CallKey> {
        let mut children = Vec::new();
        let mut next = self.calls.get(&key).and_then(|call| call.children().first);
        while let Some(key) = next {
            children.push(key);
            let parent = self.calls.get(&key).and_then(|call| call.parent.as_ref());
            next = parent.and_then(|parent| parent.after);
        }
        children
    }

    /// Adds a call to those that `parent` has made.
    pub(super) fn begin_child(&mut self, parent: CallKey, child: CallKey) -> Option<Parent> {
        let call = self.calls.get_mut(&parent)?;
        let children = &mut call.more().children;
        let before = children.last.replace(child);
        children.first.get_or_insert(child);
        children.count += 1;
        let id = call.id.clone();
        if let Some(beside) = before.and_then(|it| self.parent_of(it)) {
            beside.after = Some(child);
        }
        Some(Parent {
            key: parent,
            id,
            before,
            after: None,
        })
    }

    /// Removes a call from those that its parent has made.
    pub(super) fn leave_parent(&mut self, parent: &Parent) {
        let Some(call) = self.calls.get_mut(&parent.key) else {
            return;
        };
        let (children, before, after) = (&mut call.more().children, parent.before, parent.after);
        children.count -= 1;
        if before.is_none() {
            children.first = after;
        }
        if after.is_none() {
            children.last = before;
        }
        if let Some(beside) = before.and_then(|it| self.parent_of(it)) {
            beside.after = after;
        }
        if let Some(beside) = after.and_then(|it| self.parent_of(it)) {
            beside.before = before;
        }
    }

    fn parent_of(&mut self, key: CallKey) -> Option<&mut Parent> {
        self.calls.get_mut(&key)?.parent.as_deref_mut()
    }

    /// The ancestor of `key` that has that callId.
    pub(super) fn ancestor(&self, key: CallKey, id: &str) -> Option<CallKey> {
        let mut call = self.calls.get(&key)?;
        loop {
            let parent = call.parent.as_ref()?;
            call = self.calls.get(&parent.key)?;
            if parent.id.as_str() == id {
                return Some(parent.key);
            }
        }
    }

    /// Ends one call, and every ancestor that has waited for this end only.
    pub(super) fn finish(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) {
        let mut parent = self.finish_one(key, outcome, now);
        while let Some(key) = parent
            && let Some(seen) = self.known_stop(key)
        {
            parent = self.finish_one(key, Outcome::Cancelled(seen), now);
        }
    }

    /// Removes a call: remembers its end, frees its slot, withdraws its questions, answers its
    /// cancels and then its caller. Returns the call that made it, if any.
    fn finish_one(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) -> Option<CallKey> {
        self.tell_progress(key);
        let by = self.stopped_by(key, now);
        let mut call = self.calls.remove(&key)?;
        let runs = matches!(call.stopping.own, None | Some(Stop::Abandoned));
        let (outcome, stop) = match outcome {
            Outcome::Cancelled(_) if call.abandoned_below() > 0 => {
                (Outcome::Cancelled(Stop::Abandoned), Some(Stop::Abandoned))
            }
            Outcome::Cancelled(stop) => (outcome, Some(stop)),
            _ => (outcome, None),
        };
        let end = stop.map_or(End::Completed, End::Cancelled);
        if let Some(session) = self
            .session_mut(call.connection)
            .filter(|session| Rc::ptr_eq(&session.id, &call.session))
        {
            session.ledger.end(&call.id, end);
            session.bytes -= call.bytes;
            if let Some(by) = by {
                session.ledger.stopped_by(&call.id, by);
            }
        } else {
            let mut closing = self.closing.iter_mut();
            if let Some(closing) = closing.find(|it| Rc::ptr_eq(&it.session, &call.session)) {
                closing.ledger.withdraw(&call.id);
            }
        }
        self.counters.cancelled += u64::from(stop.is_some());
        self.free_slot(key, &call);
        for elicitation in in_order(call.take(|it| &mut it.elicitations).into_iter()) {
            self.withdraw(elicitation);
        }
        for _ in 0..call.deadlines {
            self.forget_deadline();
        }
        if stop == Some(Stop::Abandoned) {
            self.abandon(key, &call, runs, now);
        }
        if let Some(parent) = &call.parent {
            self.tell_parent(parent, stop);
            let parent = parent.key;
            if stop != Some(Stop::Abandoned) && self.is_abandoned(parent) {
                self.ended_below(Some(parent), now);
            }
        }
        let by = by.filter(|_| stop.is_some());
        let answer = stop.map_or(CancelAnswer::AlreadyCompleted, |stop| {
            let ended = None;
            CancelAnswer::Cancelled { stop, ended, by }
        });
        for asker in call.take(|it| &mut it.askers) {
            self.confirm(&call, asker, answer);
        }
        let reason = call.stopping.reason.take();
        let response = Response {
            outcome,
            duration: Some((now - call.accepted).max(0.0)),
            by,
        };
        if self.watched {
            let state = CallState::Ended(response.clone(), reason.filter(|_| stop.is_some()));
            let event = self.event(&call, state);
            self.actions.push_back(Action::Call(event));
        }
        let to = std::mem::replace(&mut call.reply, ReplyTo::Nobody);
        self.say(Action::Respond { key, to, response });
        self.close_if_over(&call.session);
        call.parent.map(|parent| parent.key)
    }

    /// Answers a cancel.
    fn confirm(
        &mut self,
        call: &Call<P, H>,
        asker: (Asker<P>, Option<Rc<str>>),
        answer: CancelAnswer,
    ) {
        let (asker, reason) = asker;
        if self.watched {
            self.actions.push_back(Action::CancelAnswered {
                session: call.session.clone(),
                id: call.id.clone(),
                answer,
                reason,
            });
        }
        self.say(match asker {
            Asker::Agent(to, id, given) => Action::Answer {
                to,
                id,
                answer: Answer::Cancelled(given, Ok(answer)),
            },
            Asker::App(key) => Action::Confirm {
                key,
                answer: Ok(answer),
            },
        });
    }

    /// Removes a call from the line for a slot.
    pub(super) fn stop_waiting(&mut self, key: CallKey) {
        let call = self.calls.get(&key);
        if let Some(call) = call.filter(|call| call.phase == Phase::Waiting) {
            let mut slots = call.capability.slots.borrow_mut();
            slots.abandon(|it| it != key && self.waits(it));
            drop(slots);
            self.note_waiting(key, false);
        }
    }

    fn waits(&self, key: CallKey) -> bool {
        let call = self.calls.get(&key);
        call.is_some_and(|call| call.phase == Phase::Waiting)
    }

    fn free_slot(&mut self, key: CallKey, call: &Call<P, H>) {
        if !call.has_slot {
            return;
        }
        let mut slots = call.capability.slots.borrow_mut();
        let next = slots.leave(key, |it| self.waits(it));
        drop(slots);
        if let Some(next) = next {
            self.note_waiting(next, false);
        }
        if let Some(next) = next
            && let Some(waiting) = self.calls.get_mut(&next)
        {
            waiting.has_slot = true;
            waiting.phase = Phase::Ready;
            self.ready.push_back(next);
            self.wake();
        }
    }
}
