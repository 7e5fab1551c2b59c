//! What reaches an agent, and what its callers are told.

use crate::agent::{Action, CancelOutcome, Request, Settled};
use crate::call::{CancelAnswer, Grade, Stop};
use crate::dialect::answers::{Answer, Confirmation};

use super::facts::{Said, Told};
use super::told::{REASONS, code};
use super::world::{Down, Up, What, World};

/// What the agent says of a cancel that was not confirmed.
pub const UNCONFIRMED: &str = "No confirmation from the app";

impl World {
    pub fn receive_at_agent(&mut self, agent: usize, message: Down) {
        match message {
            Down::Called(key, what, told) => {
                if let What::Call(call) = what {
                    self.learn(call, told);
                }
                let (answer, data) = answer_of(told);
                self.sides[agent].state.called(key, answer, data);
            }
            Down::Cancelled(key, what, said) => {
                let (What::Ask(call, _) | What::Quiet(call)) = what else {
                    return;
                };
                // A session that was opened later knows nothing of the call.
                if let Said::Cancelled(stop) = said {
                    self.learn(call, Told::Cancelled(stop));
                }
                let name = self.id(call.into());
                let (confirmation, reason, error) = match said {
                    Said::Cancelled(stop) => (Confirmation::Cancelled(stop.into()), None, None),
                    Said::Refused(reason) => {
                        let lost_session = false;
                        let refused = Confirmation::Refused { lost_session };
                        (refused, Some(reason.to_owned()), None)
                    }
                    Said::Error(code) => {
                        let refused =
                            Confirmation::of(Some(false), true, Some(code), Grade::default());
                        (refused, None, Some(0))
                    }
                };
                self.sides[agent].state.cancelled(
                    key,
                    Some(name.as_str()),
                    confirmation,
                    reason,
                    error,
                );
            }
            Down::Over => self.sides[agent].state.shut_down(),
            Down::Ended(call, end) => {
                let name = self.id(call.into());
                self.sides[agent].state.ended(name.as_str(), end);
            }
            Down::Progress(call) => {
                let name = self.id(call.into());
                self.sides[agent].state.progress(name.as_str(), 1);
            }
        }
    }

    fn learn(&mut self, call: u8, told: Told) {
        let facts = &mut self.calls[usize::from(call)];
        if !matches!(told, Told::Failed(code) if crate::call::Code::leaves_open(code)) {
            facts.arrived.get_or_insert(told);
        }
    }

    pub fn perform_for(&mut self, agent: usize) {
        while let Some(action) = self.sides[agent].state.poll_action() {
            match action {
                Action::Wake => self.sides[agent].flush = true,
                Action::Send(key, request) => self.send_up(agent, key, &request),
                Action::Settle(key, settled) => {
                    if let Some(What::Call(call)) = self.what(agent, key) {
                        let facts = &mut self.calls[usize::from(call)];
                        let told = told_of(&settled);
                        facts.settles += 1;
                        facts.unsure |= matches!(told, Told::Failed(code) if crate::call::Code::leaves_open(code));
                        facts.settled.get_or_insert(told);
                    }
                }
                Action::SettleCancel(key, outcome) => self.settle_cancel(agent, key, &outcome),
                Action::Progress(key, _) => {
                    if let Some(What::Call(call)) = self.what(agent, key)
                        && self.calls[usize::from(call)].settled.is_some()
                    {
                        self.oddity = Some("a caller is told of progress after the end");
                    }
                }
                Action::Lost => self.sides[agent].lost = true,
                Action::Closed(_) => self.sides[agent].closed = true,
            }
        }
    }

    fn send_up(&mut self, agent: usize, key: u32, request: &Request<u32>) {
        let what = match request {
            Request::Call(call) => {
                let made = self.what(agent, key);
                let Some(What::Call(made)) = made else {
                    return;
                };
                if self.id(made.into()) != call.id {
                    self.oddity = Some("a call is sent under the callId of another");
                }
                let facts = &mut self.calls[usize::from(made)];
                (facts.sent, facts.times.sent) = (true, Some(self.now));
                What::Call(made)
            }
            Request::Cancel { call, .. } => {
                let named = self.of_agent(agent).find(|it| self.id(*it) == *call);
                let Some(named) = named else {
                    return;
                };
                // A cancel that the caller has just asked for has a key that is known in a moment.
                match self.what(agent, key) {
                    Some(known) => known,
                    None => {
                        self.calls[named].times.quiet = Some(self.now);
                        let quiet = What::Quiet(named as u8);
                        self.sides[agent].keys.push((key, quiet));
                        quiet
                    }
                }
            }
            Request::Shutdown { .. } => {
                self.sides[agent].keys.push((key, What::Shutdown));
                What::Shutdown
            }
            Request::List => return,
        };
        if !self.sides[agent].cut {
            self.sides[agent].up.push_back(Up { key, what });
        }
    }

    fn settle_cancel(&mut self, agent: usize, key: u32, outcome: &CancelOutcome<u32>) {
        let Some(What::Ask(call, number)) = self.what(agent, key) else {
            self.oddity = Some("a cancel is answered that nobody waits for");
            return;
        };
        let said = match outcome {
            CancelOutcome {
                grade: Some(grade), ..
            } => Said::Cancelled(grade.stop),
            CancelOutcome {
                error: Some(Err(error)),
                ..
            } => Said::Error(code(error.code.as_str())),
            CancelOutcome { error: Some(_), .. } => Said::Error("NOT_INITIALIZED"),
            CancelOutcome { reason, .. } => {
                let known = REASONS.into_iter().chain([UNCONFIRMED]);
                let reason = reason.as_deref().unwrap_or_default();
                Said::Refused(
                    known
                        .into_iter()
                        .find(|it| *it == reason)
                        .unwrap_or("other"),
                )
            }
        };
        let facts = &mut self.calls[usize::from(call)];
        let arrived = facts.arrived;
        let ask = &mut facts.asks[usize::from(number)];
        if ask.said.is_some() {
            self.oddity = Some("a cancel is answered twice");
            return;
        }
        (ask.said, ask.knew) = (Some(said), arrived);
    }
}

fn told_of(settled: &Settled<u32>) -> Told {
    match settled {
        Settled::Response(data) if *data >= 100 => Told::Completed(*data),
        Settled::Response(_) => Told::Failed("response"),
        Settled::Cancelled(grade) => Told::Cancelled(grade.stop),
        Settled::Failed(error) => Told::Failed(code(error.code.as_str())),
    }
}

/// What a shell reads from the host's answer.
fn answer_of(told: Told) -> (Answer, u32) {
    match told {
        Told::Completed(data) => (Answer::Succeeded, data),
        Told::Failed(code) => {
            let answer = Answer::of(Some(false), None, Some(code), Grade::default());
            (answer, 0)
        }
        Told::Cancelled(stop) => (Answer::Cancelled(Stop::into(stop)), 0),
    }
}

/// What a cancel of a call may say whose end is known.
pub fn as_said(told: Told) -> Said {
    match told {
        Told::Cancelled(stop) => Said::Cancelled(stop),
        Told::Completed(_) | Told::Failed(_) => {
            Said::Refused(CancelAnswer::AlreadyCompleted.reason().unwrap_or_default())
        }
    }
}
