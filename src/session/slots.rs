//! Whose turn it is among the calls of a capability that takes only so many at once.

use std::rc::Rc;

use super::HostState;
use super::state::{Call, Phase};
use crate::call::{CallKey, Code, Error, Millis, Outcome};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Gives a call a slot of its capability, or puts it in line. A child that would wait for what
    /// waits for it is refused: nobody could ever go on.
    pub(super) fn line_up(&mut self, key: CallKey, now: Millis) {
        let Some(call) = self.calls.get(&key) else {
            return;
        };
        // A capability that calls itself, however indirectly, runs within the slot its ancestor
        // holds; waiting for that slot would wait for ever.
        let within_ancestor = self.has_ancestor_of_same_capability(call);
        let got_slot = !within_ancestor && call.capability.slots.borrow_mut().enter(key);
        let is_child = call.parent.is_some();
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        call.has_slot = got_slot;
        call.phase = if got_slot || within_ancestor {
            Phase::Ready
        } else {
            Phase::Waiting
        };
        if call.phase == Phase::Ready {
            self.ready.push_back(key);
            self.wake();
        } else if is_child && self.waits_for_ever(key) {
            self.stop_waiting(key);
            self.end(key, Outcome::Failed(deadlock()), now);
        }
    }

    fn has_ancestor_of_same_capability(&self, call: &Call<P, H>) -> bool {
        let mut parent = call.parent.as_ref();
        while let Some(ancestor) = parent.and_then(|parent| self.calls.get(&parent.key)) {
            if Rc::ptr_eq(&ancestor.capability, &call.capability) {
                return true;
            }
            parent = ancestor.parent.as_ref();
        }
        false
    }

    /// Whether a call in line can never have its turn: everyone who holds a slot it waits for
    /// has made a call that waits, directly or in turn, for the same.
    fn waits_for_ever(&self, key: CallKey) -> bool {
        let mut stuck =
            self.calls_where(|call| call.phase == Phase::Waiting && call.parent.is_some());
        if !self.is_blocked_by(key, &stuck) {
            return false;
        }
        // Whoever may get on is taken out, until none is left who may.
        loop {
            let before = stuck.len();
            let all = stuck.clone();
            stuck.retain(|waiting| self.is_blocked_by(*waiting, &all));
            if !stuck.contains(&key) {
                return false;
            }
            if stuck.len() == before {
                return true;
            }
        }
    }

    /// Whether each holder of a slot that `waiting` waits for is above one of `stuck`.
    fn is_blocked_by(&self, waiting: CallKey, stuck: &[CallKey]) -> bool {
        let Some(call) = self.calls.get(&waiting) else {
            return false;
        };
        let mut holders = self
            .calls
            .iter()
            .filter(|(_, it)| it.has_slot && Rc::ptr_eq(&it.capability, &call.capability));
        holders.all(|(holder, _)| stuck.iter().any(|it| self.is_above(*holder, *it)))
    }

    fn is_above(&self, ancestor: CallKey, key: CallKey) -> bool {
        let mut next = Some(key);
        while let Some(key) = next {
            if key == ancestor {
                return true;
            }
            let call = self.calls.get(&key);
            next = call.and_then(|call| Some(call.parent.as_ref()?.key));
        }
        false
    }
}

fn deadlock<P>() -> Error<P> {
    let message = "The call would wait for ever: those it waits for wait for it";
    Error::new(Code::CAPABILITY_UNAVAILABLE, message)
}
