//! How far the stop of each cancelled call was seen, as its agent was told.
//!
//! An app says so in its confirmation and its response. An app that says nothing has shown nothing. The
//! gateway repeats what was said first: in the response that follows a confirmation, and to every later
//! cancel.

use super::calls::Run;
use super::sessions::Agent;
use super::sessions::pending::Entry;
use super::{Broker, PeerId};
use crate::wire::stops::Grade;
use crate::wire::{Said, text_of};
use caphost::call::{LateEnd, Stop};

impl Broker {
    /// The grade of the stop by an app's answer that a call is cancelled, as the agent is told.
    pub(super) fn grade(&mut self, agent: PeerId, entry: &Entry, said: &Said<'_>) -> Grade {
        // The worker of the agent remembers what the agent was told.
        let here = self.sessions.get(&agent).is_some_and(Agent::is_here);
        let call_id = || text_of(entry.call_id.as_deref()?.as_bytes());
        let known = || self.calls.of(agent, &call_id()?);
        let run = entry.run.or_else(known).filter(|_| said.cancelled && here);
        let Some(run) = run else {
            return said.grade;
        };
        let late_end = said
            .grade
            .late_end
            .filter(|_| said.grade.stop == Stop::Abandoned);
        // The answer tells the late end too, in case the notification was lost.
        if let Some(end) = late_end {
            self.calls.ended_late(run, end);
        }
        let told = self.calls.get(run).and_then(Run::grade);
        told.unwrap_or(Grade {
            late_end,
            ..said.grade
        })
    }

    /// Notes that the handler of an abandoned call has ended. Returns whether this is news.
    pub(super) fn note_late_end(&mut self, agent: PeerId, call_id: &str, end: LateEnd) -> bool {
        let run = self.calls.of(agent, call_id);
        run.is_some_and(|run| self.calls.ended_late(run, end))
    }

    /// [`note_late_end`](Self::note_late_end) for an agent that has left. Returns whether the call was
    /// abandoned.
    pub(super) fn note_late_end_of_left(
        &mut self,
        app: PeerId,
        handle: &str,
        call_id: &str,
        end: LateEnd,
    ) -> bool {
        let app = self.apps.get_mut(&app);
        let Some(run) = app.and_then(|app| app.left_behind.take(handle, call_id)) else {
            return false;
        };
        self.calls.ended_late(run, end);
        true
    }
}
