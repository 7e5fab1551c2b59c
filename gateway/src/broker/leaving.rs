//! Agents that have left while the app had calls of theirs. The app is told to cancel these, and has the
//! confirm timeout to say how they ended: then only is it told that the agent is gone.

use rustc_hash::{FxHashMap, FxHashSet};

use super::agents::Agent;
use super::answers::ending_of;
use super::call::{CancelOutcome, cancel_failed, cancel_payload, unconfirmed};
use super::deadlines::Due;
use super::departures::{APP_GONE, STOPPING};
use super::message::Content;
use super::pending::{IssuedId, read_issued};
use super::stops::Stopped;
use super::{Action, Backlog, Broker, PeerId, Seat};
use crate::broker::runs::{Ending, Lost, RunId};
use crate::wire::{Envelope, Header, Outgoing, Request, Said};
use caphost::call::{Code, Error, LateEnd, Millis};

/// Calls of agents that have left one app whose ends are waited for, 1 024.
const WAITED_FOR: usize = 1_024;
/// Why they are cancelled.
const REASON: &str = "The caller has gone away";

/// An agent that has left, and what is still waited for.
pub(super) struct Leaving {
    /// Its name on the app's wire.
    handle: String,
    app: PeerId,
    /// Its calls, and the cancels of them, by the ids they were passed on with.
    asked: FxHashMap<u64, (Request, RunId)>,
    stopped: Stopped,
    /// Until when.
    deadline: Millis,
}

impl Leaving {
    pub(super) fn calls(&self) -> usize {
        let asked = self.asked.values();
        asked.filter(|(it, _)| *it == Request::Call).count()
    }
}

impl Broker {
    /// The calls of an agent that leaves, and the cancels of them, whose ends are waited for: they are
    /// taken out of what is pending.
    pub(super) fn stays_for(&self, agent: &Agent) -> FxHashMap<u64, (Request, RunId)> {
        let nothing = FxHashMap::default();
        let app = agent.app.and_then(|app| self.apps.get(&app));
        let Some(app) = app.filter(|app| app.backlog == Backlog::Short) else {
            return nothing;
        };
        // Sessions of the gateway's own wait for their calls before they leave.
        if agent.profile.seat != Seat::Connected {
            return nothing;
        }
        let calls = agent.pending.calls();
        if calls.is_empty() {
            return nothing;
        }
        let leaving = app.leaving.values().filter_map(|it| self.leaving.get(it));
        let room = WAITED_FOR.saturating_sub(leaving.map(Leaving::calls).sum());
        let is_open = |run: &RunId| self.runs.get(*run).is_some_and(|it| !it.state.is_over());
        let calls = calls.into_iter().filter(|(_, run)| is_open(run));
        let calls: FxHashMap<_, _> = calls.map(|(id, run)| (id, (Request::Call, run))).collect();
        // Where there is no room for all of them, the app is told at once, which cancels all.
        if calls.len() > room { nothing } else { calls }
    }

    /// Tells the app of an agent that has left to cancel its calls, and waits.
    pub(super) fn stay(
        &mut self,
        peer: PeerId,
        mut agent: Agent,
        asked: FxHashMap<u64, (Request, RunId)>,
    ) {
        let Some(app) = agent.app else { return };
        let waited_for: FxHashSet<_> = asked.values().map(|(_, run)| *run).collect();
        let stopped = agent.stopped.take(|run| waited_for.contains(&run));
        if let Some(app) = self.apps.get_mut(&app) {
            app.leaving.insert(agent.handle.clone(), peer);
            app.left_behind.keep(&agent.handle, agent.stopped);
        }
        let deadline = self.now.monotonic_ms + self.grace();
        let due = Due::Agent(peer);
        self.deadlines.change(due, None, Some(deadline));
        let mut calls: Vec<_> = asked.iter().map(|(id, it)| (*id, *it)).collect();
        calls.retain(|(_, (request, _))| *request == Request::Call);
        calls.sort_unstable_by_key(|(id, _)| *id);
        let leaving = Leaving {
            handle: agent.handle,
            app,
            asked,
            stopped,
            deadline,
        };
        self.leaving.insert(peer, leaving);
        for (_, (_, run)) in calls {
            let (reason, now) = (Some(REASON), self.now.unix_ms);
            self.runs.cancel_requested(run, reason, now);
            if let Some(place) = self.runs.place_mut(run)
                && !std::mem::replace(&mut place.revoking, true)
            {
                self.cancel_left(peer, run, reason);
            }
        }
    }

    /// Sends a cancel of a call whose agent has left.
    pub(super) fn cancel_left(&mut self, peer: PeerId, run: RunId, reason: Option<&str>) {
        let issued = self.issue();
        let (Some(leaving), Some(place)) = (self.leaving.get_mut(&peer), self.runs.place(run))
        else {
            return;
        };
        leaving.asked.insert(issued, (Request::Cancel, run));
        let id = IssuedId::of(issued);
        let header = Header {
            kind: Request::Cancel.kind(),
            id: Some(id.as_str()),
            agent: Some(&leaving.handle),
            timestamp: &self.timestamp,
        };
        let payload = cancel_payload(&place.call_id, reason);
        let message = Outgoing::new(header, &payload, None);
        let peer = leaving.app;
        self.actions.push_back(Action::Send { peer, message });
    }

    /// An app says something to an agent that has left, and that it has not been told of.
    pub(super) fn leaving_told(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        content: &Content<'_>,
    ) {
        match content {
            Content::Ended(call_id, ended) => self.leaving_ended_late(peer, call_id, *ended),
            Content::Answer(said) => {
                let request = Request::answered_by(&envelope.kind);
                self.leaving_answered(peer, envelope, said, |it| Some(it) == request);
            }
            Content::Failed(Some((_, said))) => {
                self.leaving_answered(peer, envelope, said, |_| true);
            }
            // Progress, questions and notifications are for nobody.
            _ => {}
        }
    }

    fn leaving_ended_late(&mut self, peer: PeerId, call_id: &str, ended: LateEnd) {
        let Some(leaving) = self.leaving.get_mut(&peer) else {
            return;
        };
        if let Some(run) = leaving.stopped.ends(call_id, ended) {
            return self.runs.ended_late(run, ended);
        }
        // It may have left that call behind before.
        let (app, handle) = (leaving.app, leaving.handle.clone());
        let known = self.note_ended_of_left(app, &handle, call_id, ended);
        self.counters.strays_dropped += u64::from(!known);
    }

    fn leaving_answered(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        said: &Said<'_>,
        answers: impl FnOnce(Request) -> bool,
    ) {
        let id = envelope.id.and_then(read_issued);
        let asked = self.leaving.get_mut(&peer).and_then(|leaving| {
            let asked = *leaving.asked.get(&id?)?;
            answers(asked.0).then(|| leaving.asked.remove(&id?))?
        });
        let Some((request, run)) = asked else {
            self.counters.answers_dropped += 1;
            return;
        };
        let call_id = self.runs.place(run).map(|place| place.call_id.clone());
        let grade = match (call_id, self.leaving.get_mut(&peer)) {
            (Some(call_id), Some(leaving)) if said.cancelled => {
                leaving.stopped.told(call_id, run, said.grade)
            }
            _ => said.grade,
        };
        match (request, envelope.object()) {
            (Request::Cancel, _) => self.revocation_answered(run, said, grade),
            (_, Ok(_)) => self.run_over(peer, run, ending_of(said, grade), || None),
            (_, Err(_)) => {
                let code = Code::TRANSPORT_ERROR.as_str().to_string();
                self.run_over(peer, run, Ending::Unknown(code), || None);
            }
        }
        let leaving = self.leaving.get(&peer);
        if leaving.is_some_and(|leaving| leaving.calls() == 0) {
            self.leave(peer, Lost::Agent);
        }
    }

    /// Nothing more is waited for of an agent that has left, as all is known, or it took too long, or
    /// somebody else is lost as well. The app, if it is there, is told that the agent is gone.
    pub(super) fn leave(&mut self, peer: PeerId, lost: Lost) {
        let Some(leaving) = self.leaving.remove(&peer) else {
            return;
        };
        let due = Due::Agent(peer);
        self.deadlines.change(due, Some(leaving.deadline), None);
        let mut asked: Vec<_> = leaving.asked.into_values().collect();
        asked.sort_unstable();
        let is_call = |(request, _): &(Request, RunId)| *request == Request::Call;
        for (_, run) in asked.iter().copied().filter(is_call) {
            self.run_over(peer, run, Ending::Lost(lost), || None);
        }
        for (_, run) in asked.into_iter().filter(|it| !is_call(it)) {
            let outcome = self.outcome_of_ended(run);
            self.revoked(run, outcome.unwrap_or_else(|| unanswered(lost)));
        }
        if let Some(app) = self.apps.get_mut(&leaving.app) {
            app.leaving.remove(&leaving.handle);
            app.left_behind.keep(&leaving.handle, leaving.stopped);
            self.bid_farewell(leaving.app, &leaving.handle);
        }
    }
}

/// What comes of a cancel that was not answered.
fn unanswered(lost: Lost) -> CancelOutcome {
    let reason = match lost {
        Lost::Agent => return unconfirmed(),
        Lost::App => APP_GONE,
        Lost::Gateway => STOPPING,
    };
    cancel_failed(reason, Error::new(Code::DISCONNECTED, reason))
}
