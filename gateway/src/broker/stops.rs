//! How far the stop of each cancelled call was seen, as its agent was told.
//!
//! An app says so in its confirmation and its response. An app that says nothing has shown nothing. The
//! gateway repeats what was said first: in the response that follows a confirmation, and to every later
//! cancel.

use std::sync::Arc;

use super::pending::Entry;
use super::{Broker, PeerId};
use crate::broker::runs::RunId;
use crate::remembered::Remembered;
use crate::wire::stops::Grade;
use crate::wire::{Request, Said, text_of};
use caphost::call::{LateEnd, Stop};

/// How many cancelled calls are remembered, for one agent and for the agents that have left one app.
const REMEMBERED: usize = 1_024;

/// The cancelled calls of one agent, by callId.
#[derive(Debug, Default)]
pub(super) struct Stopped(Remembered<Arc<str>, Told, REMEMBERED>);

/// What was said about one call.
#[derive(Clone, Copy, Debug)]
struct Told {
    run: RunId,
    grade: Grade,
    /// The call never went to the app.
    skipped: bool,
}

impl Told {
    /// Whether the handler may still end.
    fn may_end(&self) -> bool {
        self.grade.stop == Stop::Abandoned && self.grade.late_end.is_none()
    }
}

impl Stopped {
    /// A run is cancelled, with that grade. Returns what is to be said.
    fn say(&mut self, call_id: Arc<str>, run: RunId, grade: Grade) -> &mut Told {
        let new = Told {
            run,
            grade: Grade {
                late_end: None,
                ..grade
            },
            skipped: false,
        };
        let told = self.0.get_or_insert(call_id, new);
        // An id that the app has forgotten may be used again.
        if told.run != run {
            *told = new;
        }
        told
    }

    /// A run was cancelled before its call came. The call never goes to the app.
    pub fn skip(&mut self, call_id: Arc<str>, run: RunId) {
        self.say(call_id, run, Stop::NeverStarted.into()).skipped = true;
    }

    /// The handler of an abandoned call has ended. Returns the run, if this is news.
    pub fn ends(&mut self, call_id: &str, end: LateEnd) -> Option<RunId> {
        let told = self.0.get_mut(call_id).filter(|told| told.may_end())?;
        told.grade.late_end = Some(end);
        Some(told.run)
    }

    /// Whether the call with that callId never went to the app, which does not know it.
    pub fn has_skipped(&self, call_id: &str) -> bool {
        self.0.get(call_id).is_some_and(|told| told.skipped)
    }
}

/// Abandoned calls of agents that have left an app. The late ends of these calls are news of their runs.
#[derive(Debug, Default)]
pub(super) struct LeftBehind {
    /// By the agents' names in messages to the app, and the callIds.
    runs: Remembered<(String, Arc<str>), RunId, REMEMBERED>,
    /// Agents of other workers, by their names in messages to the app. Their workers are told the late ends.
    elsewhere: Remembered<String, PeerId, REMEMBERED>,
}

impl LeftBehind {
    /// An agent of another worker has left.
    pub fn keep_elsewhere(&mut self, handle: &str, peer: PeerId) {
        self.elsewhere.insert(handle.into(), peer);
    }

    /// The agent of another worker that had that name.
    pub fn of_elsewhere(&self, handle: &str) -> Option<PeerId> {
        self.elsewhere.get(handle).copied()
    }

    /// An agent has left.
    pub fn keep(&mut self, handle: &str, stopped: Stopped) {
        let may_end = stopped.0.into_all().filter(|(_, told)| told.may_end());
        for (call_id, told) in may_end {
            self.runs.insert((handle.to_string(), call_id), told.run);
        }
    }

    fn take(&mut self, handle: &str, call_id: &str) -> Option<RunId> {
        self.runs.remove(&(handle.to_string(), call_id.into()))
    }
}

impl Broker {
    /// The grade of the stop by an app's answer that a call is cancelled, as the agent is told.
    pub(super) fn grade(&mut self, agent: PeerId, entry: &Entry, said: &Said<'_>) -> Grade {
        let grade = said.grade;
        let agent = self.agents.get_mut(&agent);
        // The worker of the agent remembers what the agent was told.
        let Some(agent) = agent.filter(|agent| said.cancelled && agent.is_here()) else {
            return grade;
        };
        let call_id: Option<Arc<str>> = match entry.request {
            Request::Call => entry
                .run
                .and_then(|run| self.runs.get(run))
                .map(|run| run.call_id.clone()),
            _ => entry
                .call_id
                .as_deref()
                .and_then(|id| Some(text_of(id.as_bytes())?.into())),
        };
        let in_flight = call_id.as_ref().and_then(|id| agent.calls.get(id).copied());
        let run = entry.run.or(in_flight);
        let told = match (call_id, run) {
            (Some(call_id), Some(run)) => Some(agent.stopped.say(call_id, run, grade)),
            (Some(call_id), None) => agent.stopped.0.get_mut(&call_id),
            (None, _) => None,
        };
        let Some(told) = told else {
            return grade;
        };
        // The answer tells the late end too, in case the notification was lost.
        let news = said.grade.late_end.filter(|_| told.may_end());
        if news.is_some() {
            told.grade.late_end = news;
        }
        let (run, grade) = (told.run, told.grade);
        if let Some(end) = news {
            self.runs.ended_late(run, end);
        }
        grade
    }

    /// Notes that the handler of an abandoned call has ended. Returns whether this is news.
    pub(super) fn note_late_end(&mut self, agent: PeerId, call_id: &str, end: LateEnd) -> bool {
        let agent = self.agents.get_mut(&agent);
        let Some(run) = agent.and_then(|agent| agent.stopped.ends(call_id, end)) else {
            return false;
        };
        self.runs.ended_late(run, end);
        true
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
        self.runs.ended_late(run, end);
        true
    }
}
