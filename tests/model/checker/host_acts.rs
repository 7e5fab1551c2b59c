//! What the host has its shell do.

use crate::session::{Action, CallEvent, CallState};

use super::scope::Kind;
use super::told::said;
use super::world::{Down, World};

impl World {
    pub fn perform(&mut self) {
        while let Some(action) = self.host.poll_action() {
            self.perform_one(action);
        }
    }

    pub fn call_of(&self, key: u32) -> Option<usize> {
        let found = self.host_keys.iter().find(|(it, _)| *it == key);
        found.map(|(_, call)| usize::from(*call))
    }

    fn perform_one(&mut self, action: Action<u32, Kind>) {
        match action {
            Action::Wake => self.wake = true,
            Action::Start { key, params, .. } => {
                let call = self.call_of(key).unwrap_or(params as usize);
                if call != params as usize {
                    self.oddity = Some("a handler got the parameters of another call");
                }
                let facts = &mut self.calls[call];
                facts.started += 1;
                facts.checking = false;
                facts.started_after_end |= facts.responded.is_some() || facts.signalled > 0;
                facts.started_after_cause |= facts.cause;
                if self.concurrent(call) {
                    self.oddity = Some("more handlers run than may run at once");
                }
            }
            Action::Stop { key, .. } => self.signal(key),
            Action::Terminate { key } => {
                if let Some(call) = self.call_of(key) {
                    let facts = &mut self.calls[call];
                    (facts.terminating, facts.knows) = (facts.end.is_none(), true);
                    facts.times.terminating = Some(self.now);
                }
            }
            Action::Respond { key, to, response } => self.respond(key, to, &response),
            Action::Answer { to, id, answer } => self.answer(to, id, answer),
            Action::Confirm { key, answer } => {
                let asked = self.app_cancels.iter().find(|(it, _)| *it == key);
                if let Some((_, call)) = asked.copied() {
                    self.answered(call.into(), said(&answer));
                }
            }
            Action::CallEnded { to, id, end } => {
                let made = self.connections.iter().find(|(it, _)| *it == to);
                let mut calls = self.of_agent(made.map_or(usize::MAX, |(_, agent)| *agent));
                let named = calls.find(|call| self.id(*call) == id);
                drop(calls);
                if let Some(call) = named {
                    if self.works(call) || self.child_of(call).is_some_and(|it| self.works(it)) {
                        self.oddity = Some("grades: a late end is reported while work goes on");
                    }
                    self.calls[call].ended_notices += 1;
                    if let Some(agent) = self.agent_of(to) {
                        self.send(agent, Down::Ended(call as u8, end));
                    }
                }
            }
            Action::Progress { to, id, .. } => {
                if let Some(agent) = self.agent_of(to) {
                    let named = self.of_agent(agent).find(|call| self.id(*call) == id);
                    if let Some(call) = named {
                        self.calls[call].progress_after_end |= self.calls[call].responded.is_some();
                        self.send(agent, Down::Progress(call as u8));
                    }
                }
            }
            Action::Elicit { key, .. } => self.question(key, true),
            Action::Withdraw { .. } => {}
            Action::Elicited { key, .. } => self.question(key, false),
            Action::Check { key, .. } => {
                if let Some(call) = self.call_of(key) {
                    self.calls[call].checking = true;
                }
            }
            Action::Call(CallEvent {
                state: CallState::Consent(key, asked, _),
                ..
            }) => {
                if let Some(call) = self.call_of(key) {
                    self.calls[call].checking = asked.is_some();
                }
            }
            Action::Notify { .. }
            | Action::CapabilitiesChanged { .. }
            | Action::Lost { .. }
            | Action::Call(_)
            | Action::Progressed { .. }
            | Action::Cancelling { .. }
            | Action::CancelAnswered { .. }
            | Action::EndedLate { .. }
            | Action::Session { .. } => {}
        }
    }

    /// Whether the handler of a call may still do something.
    pub fn works(&self, call: usize) -> bool {
        self.calls[call].runs()
    }

    fn concurrent(&self, call: usize) -> bool {
        let kind = self.calls[call].wanted.kind;
        let running = self.calls.iter().filter(|it| {
            it.wanted.kind == kind && it.started > 0 && it.in_flight() && it.parent.is_none()
        });
        kind.concurrency()
            .is_some_and(|most| running.count() > most)
    }

    fn signal(&mut self, key: u32) {
        let Some(call) = self.call_of(key) else {
            return;
        };
        let child = self.child_of(call);
        let open = child.is_some_and(|child| {
            self.calls[child].in_flight()
                && self.calls[child].started > 0
                && self.calls[child].signalled == 0
        });
        let facts = &mut self.calls[call];
        facts.signalled += 1;
        facts.signalled_before_child |= open;
        facts.knows |= facts.question_open;
        facts.times.signalled = Some(self.now);
    }

    fn question(&mut self, key: u32, opens: bool) {
        let asked = self.questions.iter().find(|(it, _)| *it == key);
        let Some((_, call)) = asked.copied() else {
            return;
        };
        let facts = &mut self.calls[usize::from(call)];
        facts.question_open = opens;
        facts.question_after_end |= opens && facts.responded.is_some();
    }

    pub fn agent_of(&self, connection: u32) -> Option<usize> {
        self.sides
            .iter()
            .position(|side| side.connection == Some(connection))
    }

    pub fn send(&mut self, agent: usize, message: Down) {
        if !self.sides[agent].cut {
            self.sides[agent].down.push_back(message);
        }
    }
}
