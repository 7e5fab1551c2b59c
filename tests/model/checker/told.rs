//! What the host tells its callers.

use crate::call::{CancelAnswer, Outcome, Response};
use crate::session::{Answer, Cancelled, ReplyTo};

use super::facts::{HandlerEnd, Said, Told};
use super::world::{Down, What, World};

pub const REASONS: [&str; 2] = ["Operation not found", "Operation already completed"];

impl World {
    pub fn respond(&mut self, key: u32, to: ReplyTo<u32>, response: &Response<u32>) {
        let told = match &response.outcome {
            Outcome::Completed(data) => Told::Completed(*data),
            Outcome::Failed(error) => Told::Failed(code(error.code.as_str())),
            Outcome::Cancelled(stop) => Told::Cancelled(*stop),
        };
        // A call that was never taken has no key yet.
        let refused = response.duration.is_none();
        let call = match (&to, self.call_of(key)) {
            (_, Some(call)) => Some(call),
            (ReplyTo::Agent(to, Some(request)), None) => {
                let agent = self.agent_of(*to);
                let what = agent.and_then(|agent| self.what(agent, *request));
                match what {
                    Some(What::Call(call) | What::Reuse(call)) => Some(usize::from(call)),
                    _ => None,
                }
            }
            _ => None,
        };
        if let ReplyTo::Agent(connection, Some(request)) = to
            && let Some(agent) = self.agent_of(connection)
            && let Some(what) = self.what(agent, request)
        {
            if let (What::Reuse(call), Told::Failed(code)) = (what, told) {
                self.calls[usize::from(call)].reused = Some(code);
                return;
            }
            self.send(agent, Down::Called(request, what, told));
        }
        let Some(call) = call else {
            return;
        };
        self.tell_parent(call, told);
        let side = &self.sides[usize::from(self.calls[call].agent)];
        let now = self.now;
        let (session, heard) = (side.session, side.connection.is_some());
        let facts = &mut self.calls[call];
        if refused {
            if let Told::Failed(code) = told {
                facts.refused = Some(code);
            }
            return;
        }
        let taken_in = *facts.session.get_or_insert(session);
        facts.responses += 1;
        facts.responded = Some(told);
        facts.ended_at_response = facts.end.is_some();
        let until = facts
            .times
            .signalled
            .map(|at| at + facts.wanted.kind.grace());
        facts.too_early = matches!(told, Told::Cancelled(_))
            && facts.runs()
            && !facts.hurried
            && until.is_some_and(|until| now < until);
        if heard && taken_in == session {
            facts.open_at_response = facts.cancels - facts.answers;
        }
        self.ended.push(call as u8);
        self.forget(call);
    }

    /// A cancel of what a handler waits for tells the handler.
    fn tell_parent(&mut self, child: usize, told: Told) {
        if let (Some(parent), Told::Cancelled(stop)) = (self.calls[child].parent, told) {
            let parent = &mut self.calls[usize::from(parent)];
            let itself = parent.end == Some(HandlerEnd::StoppedItself);
            if (parent.signalled > 0 || itself) && parent.responded.is_none() {
                parent.knows = true;
                parent.below = parent.below.max(Some(stop));
            }
        }
    }

    /// The oldest end of a session is forgotten when there are more than it remembers.
    fn forget(&mut self, newest: usize) {
        let (agent, session) = (self.calls[newest].agent, self.calls[newest].session);
        let ended = self.ended.iter().rev().map(|it| usize::from(*it));
        let of_session: Vec<usize> = ended
            .filter(|it| self.calls[*it].agent == agent && self.calls[*it].session == session)
            .collect();
        for call in of_session.into_iter().skip(self.scope.remembered) {
            self.calls[call].evicted = true;
        }
    }

    pub fn what(&self, agent: usize, key: u32) -> Option<What> {
        if key >= 10_000 {
            return Some(What::Reuse((key - 10_000) as u8));
        }
        let keys = self.sides[agent].keys.iter();
        let mut found = keys.filter(|(it, _)| *it == key);
        found.next().map(|(_, what)| *what)
    }

    pub fn answer(&mut self, to: u32, id: Option<u32>, answer: Answer<u32>) {
        let Some(agent) = self.agent_of(to) else {
            return;
        };
        match answer {
            Answer::Initialized(_) => {}
            Answer::ShutDown(_) => {
                let open = self.of_agent(agent).any(|call| {
                    let facts = &self.calls[call];
                    facts.in_flight() && facts.session == Some(self.sides[agent].session)
                });
                self.sides[agent].shut_early |= open;
                self.send(agent, Down::Over);
            }
            Answer::Cancelled(_, answer) => {
                let Some(request) = id else {
                    return;
                };
                let Some(what) = self.what(agent, request) else {
                    return;
                };
                let said = said(&answer);
                if let What::Ask(call, _) | What::Quiet(call) = what {
                    let call = usize::from(call);
                    if self.calls[call].session == Some(self.sides[agent].session) {
                        self.answered(call, said);
                    } else if !matches!(said, Said::Refused(reason) if reason == REASONS[0])
                        && !matches!(said, Said::Error("NOT_INITIALIZED"))
                    {
                        self.oddity = Some(
                            "a cancel of a call that the session never had is not `Operation not found`",
                        );
                    }
                }
                self.send(agent, Down::Cancelled(request, what, said));
            }
        }
    }

    pub fn answered(&mut self, call: usize, said: Said) {
        let facts = &mut self.calls[call];
        if facts.evicted || matches!(said, Said::Error(_)) {
            let forgotten = matches!(said, Said::Refused(reason) if reason == REASONS[0]);
            if facts.evicted && !forgotten && !matches!(said, Said::Error(_)) {
                self.oddity = Some("a call is remembered longer than the session remembers calls");
            }
            return;
        }
        if facts.in_flight() || facts.answers < facts.cancels {
            facts.answers = facts.answers.saturating_add(1).min(facts.cancels);
        }
        match facts.first_answer {
            None => facts.first_answer = Some(said),
            Some(first) if first != said => facts.other_answer = Some(said),
            Some(_) => {}
        }
    }
}

pub fn said(answer: &Cancelled<u32>) -> Said {
    match answer {
        Ok(CancelAnswer::Cancelled { stop, .. }) => Said::Cancelled(*stop),
        Ok(answer) => {
            let reason = answer.reason().unwrap_or_default();
            Said::Refused(
                REASONS
                    .into_iter()
                    .find(|it| *it == reason)
                    .unwrap_or("other"),
            )
        }
        Err(error) => Said::Error(code(error.code.as_str())),
    }
}

/// The codes that the core gives here.
pub fn code(code: &str) -> &'static str {
    const CODES: [&str; 9] = [
        "NOT_INITIALIZED",
        "INVALID_PARAMS",
        "OPERATION_FAILED",
        "CANCELLED",
        "DISCONNECTED",
        "TIMEOUT",
        "TRANSPORT_ERROR",
        "PRECONDITION_FAILED",
        "CAPABILITY_UNAVAILABLE",
    ];
    CODES.into_iter().find(|it| *it == code).unwrap_or("other")
}
