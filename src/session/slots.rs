//! Turns among the calls of a capability with limited concurrency.

use std::rc::Rc;

use super::records::{Call, Phase};
use super::state::HostState;
use crate::call::{CallKey, Code, Error, Millis, Outcome};
use crate::offers::Registered;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Gives a call a slot of its capability, or puts the call in line. A child call that would
    /// wait for its own ancestors is refused, because neither could ever go on.
    pub(super) fn line_up(&mut self, key: CallKey, now: Millis) {
        let Some(call) = self.calls.get(&key) else {
            return;
        };
        // A capability that calls itself, even indirectly, runs within the slot of its ancestor. A
        // wait for that slot would never end.
        let within_ancestor = self.has_ancestor_of_same_capability(call);
        let got_slot = !within_ancestor && call.capability.slots.borrow_mut().enter(key);
        let is_child = call.parent.is_some();
        let capability = call.capability.clone();
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
            return;
        }
        self.note_waiting(key, true);
        if is_child && self.waits_for_ever(&capability) {
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

    /// A call begins to wait for a slot, or its wait ends.
    pub(super) fn note_waiting(&mut self, key: CallKey, begins: bool) {
        let Some(call) = self.calls.get(&key) else {
            return;
        };
        let capability = call.capability.clone();
        let mut next = call.parent.as_ref().map(|parent| parent.key);
        while let Some(above) = next.and_then(|key| self.calls.get_mut(&key)) {
            next = above.parent.as_ref().map(|parent| parent.key);
            let awaited = &mut above.more().awaited;
            let mut counts = awaited.iter_mut();
            match counts.find(|(it, _)| Rc::ptr_eq(it, &capability)) {
                Some((_, count)) if begins => *count += 1,
                Some((_, count)) => *count -= 1,
                None => awaited.push((capability.clone(), 1)),
            }
            awaited.retain(|(_, count)| *count > 0);
        }
    }

    /// Whether a call in line can never have its turn: every holder of a slot that the call needs
    /// has made a call that waits, directly or indirectly, for the same slots. This check runs for
    /// each call of a crowd, so it looks at capabilities, of which there are few.
    fn waits_for_ever(&self, capability: &Rc<Registered<P, H>>) -> bool {
        let mut stuck = vec![capability.clone()];
        let mut looked_at = 0;
        while let Some(next) = stuck.get(looked_at).cloned() {
            for holder in next.slots.borrow().holders() {
                let Some(holder) = self.calls.get(holder) else {
                    continue;
                };
                // This holder waits for nobody. All calls that wait for the first capability will
                // have their turn.
                if looked_at == 0 && holder.awaited().is_empty() {
                    return false;
                }
                for (awaited, _) in holder.awaited() {
                    if !has(&stuck, awaited) {
                        stuck.push(awaited.clone());
                    }
                }
            }
            looked_at += 1;
        }
        // Remove every capability with a holder that may go on, until no such capability is left.
        while let Some(free) = stuck.iter().position(|it| !self.is_stuck(it, &stuck)) {
            stuck.swap_remove(free);
        }
        has(&stuck, capability)
    }

    /// Whether each holder of a slot has made a call that waits for one of the `others`.
    fn is_stuck(&self, capability: &Registered<P, H>, others: &[Rc<Registered<P, H>>]) -> bool {
        capability.slots.borrow().holders().iter().all(|holder| {
            let call = self.calls.get(holder);
            call.is_some_and(|call| call.awaited().iter().any(|(it, _)| has(others, it)))
        })
    }
}

fn has<T>(list: &[Rc<T>], it: &Rc<T>) -> bool {
    list.iter().any(|other| Rc::ptr_eq(other, it))
}

fn deadlock<P>() -> Error<P> {
    let message = "The call would wait forever, because the calls it waits for wait for it";
    Error::new(Code::CAPABILITY_UNAVAILABLE, message)
}
