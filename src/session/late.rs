//! Calls that were answered as abandoned while their handlers still run. The late end of each is
//! reported when it comes.

use std::rc::Rc;

use super::action::Action;
use super::records::{Abandoned, Call};
use super::state::HostState;
use crate::call::{CallKey, LateEnd, Millis, in_order};

/// How many late ends are waited for. Some handlers never end.
const MOST: usize = 10_000;

/// How many of them are forgotten when there are more.
const AT_ONCE: usize = MOST / 10;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A call was answered as abandoned at `now`. `runs` says that its own handler still runs, and
    /// not only the calls that it made.
    pub(super) fn abandon(&mut self, key: CallKey, call: &Call<P, H>, runs: bool, now: Millis) {
        let abandoned = Abandoned {
            connection: call.connection,
            session: call.session.clone(),
            id: call.id.clone(),
            parent: call.parent.as_ref().map(|parent| parent.key),
            since: now,
            runs,
            below: call.abandoned_below() + call.children().count,
            success: false,
        };
        let calls = &mut self.abandoned;
        calls.insert(key, Box::new(abandoned));
        if calls.len() > MOST {
            // The oldest are forgotten: their ends are waited for no longer, so nothing above them
            // waits for them either. Many at once, as the search goes through all.
            for oldest in in_order(calls.keys().copied()).into_iter().take(AT_ONCE) {
                if let Some(oldest) = self.abandoned.remove(&oldest) {
                    self.ended_below(oldest.parent, now);
                }
            }
        }
    }

    /// The handler of a call that has been answered has ended.
    pub(super) fn settle_late(&mut self, key: CallKey, success: bool, now: Millis) {
        self.counters.late_results += 1;
        if let Some(call) = self.abandoned.get_mut(&key) {
            call.runs = false;
            call.success = success;
            let parent = self.report_if_over(key, now);
            self.ended_below(parent, now);
        }
    }

    /// A call that `parent` had made has ended.
    pub(super) fn ended_below(&mut self, parent: Option<CallKey>, now: Millis) {
        let mut next = parent;
        while let Some(key) = next {
            next = None;
            if let Some(call) = self.abandoned.get_mut(&key) {
                call.below = call.below.saturating_sub(1);
                next = self.report_if_over(key, now);
            } else if let Some(call) = self.calls.get_mut(&key) {
                let below = &mut call.more().abandoned_below;
                *below = below.saturating_sub(1);
            }
        }
    }

    /// Whether a call was answered as abandoned and its work has not ended.
    pub(super) fn is_abandoned(&self, key: CallKey) -> bool {
        self.abandoned.contains_key(&key)
    }

    /// Reports the call if all of its work is over. Returns the call that made it, if so.
    fn report_if_over(&mut self, key: CallKey, now: Millis) -> Option<CallKey> {
        let calls = &mut self.abandoned;
        if calls.get(&key).is_none_or(|it| it.runs || it.below > 0) {
            return None;
        }
        let call = calls.remove(&key)?;
        let end = LateEnd {
            success: call.success,
            after: (now - call.since).max(0.0),
        };
        self.counters.ended_late += 1;
        let (to, id) = (call.connection, call.id);
        let wanted = match self.session_mut(to) {
            Some(session) if Rc::ptr_eq(&session.id, &call.session) => {
                session.ledger.ended_late(&id, end);
                session.features.notifications
            }
            Some(_) => false,
            // The agent has left. The carrier of its messages, such as a gateway, may have others
            // to tell.
            None => !self.connections.contains_key(&to),
        };
        if wanted {
            let id = id.clone();
            self.say(Action::CallEnded { to, id, end });
        }
        if self.watched {
            let session = call.session;
            self.actions
                .push_back(Action::EndedLate { session, id, end });
        }
        call.parent
    }
}
