//! Progress of calls. A handler may report in an inner loop. The agent gets the first reports one
//! by one; after those it gets the newest once per frame, and the last before the call ends.

use super::action::Action;
use super::records::{DeadlineOf, Phase};
use super::state::HostState;
use super::terms::ConnectionId;
use crate::call::{CallId, CallKey, Millis};

/// How many reports of one call are sent one by one.
const EACH: u32 = 256;

/// Milliseconds between two later reports: people see no more than a frame.
const FRAME: Millis = 16.0;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Whether anybody is told how far a call is. A report that comes when it is
    /// being stopped or has ended is counted.
    pub fn takes_progress(&mut self, key: CallKey) -> bool {
        match self.calls.get(&key) {
            Some(call) if call.phase != Phase::Stopping => {
                self.watched || self.agent_takes(call.connection)
            }
            _ => {
                self.counters.late_progress += 1;
                false
            }
        }
    }

    fn agent_takes(&self, of: ConnectionId) -> bool {
        let session = self.session(of);
        session.is_some_and(|session| session.features.progress)
    }

    /// Progress of a running call, as the handler wrote it.
    pub fn progress(&mut self, key: CallKey, info: P, now: Millis) {
        if !self.takes_progress(key) {
            return;
        }
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        let told = &mut call.more().told;
        told.waiting = Some(info);
        if told.count < EACH || now - told.at >= FRAME {
            told.count += 1;
            told.at = now;
            self.tell_progress(key);
        } else if !told.armed {
            told.armed = true;
            let due = told.at + FRAME;
            call.deadlines += 1;
            self.deadlines.insert(due, DeadlineOf::Progress(key));
        }
    }

    /// Progress of the running calls that `is_meant` picks by callId and token.
    pub fn progress_of(
        &mut self,
        info: P,
        is_meant: impl Fn(&CallId, Option<&P>) -> bool,
        now: Millis,
    ) {
        let keys = self.calls_where(|call| is_meant(&call.id, call.token.as_ref()));
        if keys.is_empty() {
            self.counters.late_progress += 1;
        }
        for key in keys {
            self.progress(key, info.clone(), now);
        }
    }

    /// A frame is over.
    pub(super) fn progress_is_due(&mut self, key: CallKey, now: Millis) {
        if let Some(call) = self.calls.get_mut(&key) {
            let told = &mut call.more().told;
            told.armed = false;
            told.at = now;
            call.deadlines -= 1;
            self.tell_progress(key);
        }
    }

    /// Sends the newest report, if it waits.
    pub(super) fn tell_progress(&mut self, key: CallKey) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        let Some(info) = call.more.as_mut().and_then(|it| it.told.waiting.take()) else {
            return;
        };
        let (to, id, token) = (call.connection, call.id.clone(), call.token.clone());
        if self.agent_takes(to) {
            self.say(Action::Progress {
                to,
                id: id.clone(),
                token,
                info: info.clone(),
            });
        }
        if let Some(session) = self.session_id(to).filter(|_| self.watched) {
            self.actions
                .push_back(Action::Progressed { session, id, info });
        }
    }
}
