//! Lets one thing after the other happen.

use crate::call::{CallKey, Error, Step, Stop};
use crate::session::{CallRequest, Question};

use super::event::Event;
use super::facts::HandlerEnd;
use super::scope::{Kind, TIMEOUT};
use super::world::{Up, What, World};

impl World {
    /// Lets one thing happen.
    pub fn apply(&mut self, event: Event) {
        self.host_has_seen = f64::NEG_INFINITY;
        for side in &mut self.sides {
            side.seen = f64::NEG_INFINITY;
        }
        match event {
            Event::Make(agent) => self.make(agent.into()),
            Event::Flush(agent) => {
                self.sides[usize::from(agent)].flush = false;
                self.sides[usize::from(agent)].state.flush(self.now);
            }
            Event::Cancel(call) => self.cancel(call.into()),
            Event::Abort(call) => {
                let facts = &mut self.calls[usize::from(call)];
                (facts.aborted, facts.times.aborted) = (true, Some(self.now));
                let side = &mut self.sides[usize::from(facts.agent)];
                let key = side.keys.iter().find(|(_, what)| *what == What::Call(call));
                if let Some((key, _)) = key {
                    side.state.abort(*key, None, self.now);
                }
            }
            Event::AppCancel(call) => self.app_cancel(call.into()),
            Event::Reuse(call) => {
                self.left.reuses -= 1;
                let side = &mut self.sides[usize::from(self.calls[usize::from(call)].agent)];
                let (key, what) = (10_000 + u32::from(call), What::Reuse(call));
                side.up.push_back(Up { key, what });
            }
            Event::Up(agent) => {
                if let Some(message) = self.sides[usize::from(agent)].up.pop_front() {
                    self.receive_at_host(agent.into(), message);
                }
            }
            Event::LoseUp(agent) => {
                self.left.losses -= 1;
                self.sides[usize::from(agent)].up.pop_front();
            }
            Event::Down(agent) => {
                if let Some(message) = self.sides[usize::from(agent)].down.pop_front() {
                    self.receive_at_agent(agent.into(), message);
                }
            }
            Event::Repeat(agent) => {
                self.left.repeats -= 1;
                if let Some(message) = self.sides[usize::from(agent)].down.front().copied() {
                    self.receive_at_agent(agent.into(), message);
                }
            }
            Event::LoseDown(agent) => {
                self.left.losses -= 1;
                self.sides[usize::from(agent)].down.pop_front();
            }
            Event::Turn => {
                self.wake = false;
                self.host.run_ready();
            }
            Event::Checked(call, fits) => {
                let facts = &mut self.calls[usize::from(call)];
                (facts.checking, facts.fits) = (false, Some(fits));
                let refused = || Err(Error::invalid_params("The parameters do not fit"));
                let result = if fits { Ok(()) } else { refused() };
                if let Some(key) = self.host_key(call.into()) {
                    match self.calls[usize::from(call)].wanted.kind {
                        Kind::Asked => drop(self.host.consent(key, Some(fits), self.now)),
                        _ => self.host.checked(key, result, self.now),
                    }
                }
            }
            Event::End(call, how, told) => self.end_handler(call.into(), how, told),
            Event::Child(parent) => self.call_from(parent.into()),
            Event::CancelChild(parent) => {
                self.left.app_cancels -= 1;
                if let Some(child) = self.child_of(parent.into())
                    && let Some(key) = self.host_key(child)
                {
                    self.calls[child].cause = true;
                    self.host.cancel_child(key, None, self.now);
                }
            }
            Event::Report(call) => {
                self.left.reports -= 1;
                if let Some(key) = self.host_key(call.into()) {
                    self.host.progress(key, 1, self.now);
                }
            }
            Event::Question(call) => self.ask(call.into()),
            Event::AnswerQuestion(call) => {
                let side = &self.sides[usize::from(self.calls[usize::from(call)].agent)];
                let asked = self.questions.iter().find(|(_, it)| *it == call);
                if let (Some(connection), Some((key, _))) = (side.connection, asked) {
                    self.host.answered(connection, *key, Ok(3));
                }
            }
            Event::Proof(call, proven) => {
                let facts = &mut self.calls[usize::from(call)];
                facts.terminating = false;
                if proven {
                    facts.end = Some(HandlerEnd::Terminated);
                }
                let stop = [Stop::Abandoned, Stop::Terminated][usize::from(proven)];
                if let Some(key) = self.host_key(call.into()) {
                    self.host.stopped(key, stop, self.now);
                }
            }
            Event::HostTick => {
                self.left.ticks -= 1;
                let next = self.host.next_deadline().unwrap_or(self.now);
                self.now = self.now.max(next);
                self.host_has_seen = self.now;
                self.due();
                self.host.handle_timeout(self.now);
            }
            Event::AgentTick(agent) => {
                self.left.ticks -= 1;
                let side = &mut self.sides[usize::from(agent)];
                self.now = self.now.max(side.state.next_deadline().unwrap_or(0.0));
                side.seen = self.now;
                side.state.handle_timeout(self.now);
            }
            Event::Shutdown(agent) => {
                self.left.shutdowns -= 1;
                let side = &mut self.sides[usize::from(agent)];
                (side.shutting, side.shut_at) = (true, Some(self.now));
                side.state.shutdown(None, self.now);
            }
            Event::Cut(agent) => {
                self.left.cuts -= 1;
                let side = &mut self.sides[usize::from(agent)];
                side.cut = true;
                side.up.clear();
                side.down.clear();
            }
            Event::HostNotices(agent) => {
                if let Some(connection) = self.sides[usize::from(agent)].connection.take() {
                    self.session_over(agent.into());
                    self.host.disconnect(connection, self.now);
                }
            }
            Event::AgentNotices(agent) => {
                let side = &mut self.sides[usize::from(agent)];
                side.noticed = true;
                side.state.disconnected();
            }
            Event::Reconnect(agent) => {
                self.connect(agent.into());
                let side = &mut self.sides[usize::from(agent)];
                side.lost = false;
                side.state.reconnected(false, self.now);
            }
            Event::GiveUp => {
                self.left.give_up = false;
                self.calls.iter_mut().for_each(|it| it.hurried = true);
                self.host.give_up(None, self.now);
            }
        }
        self.perform();
        for agent in 0..self.sides.len() {
            self.perform_for(agent);
        }
        self.note_causes();
    }

    fn make(&mut self, agent: usize) {
        let Some(call) = self.roots(agent).find(|call| !self.calls[*call].made) else {
            return;
        };
        let outgoing = crate::agent::Outgoing {
            id: self.id(call),
            capability: self.calls[call].wanted.kind.capability().into(),
            params: None,
            timeout: self.calls[call].wanted.timeout.then_some(TIMEOUT),
            progress: false,
            transfer: false,
        };
        self.calls[call].made = true;
        let side = &mut self.sides[agent];
        let key = side.state.call(outgoing);
        side.keys.push((key, What::Call(call as u8)));
    }

    fn cancel(&mut self, call: usize) {
        let id = self.id(call);
        let facts = &mut self.calls[call];
        let number = usize::from(facts.asks[0].asked);
        facts.asks[number].asked = true;
        facts.times.asked[number] = Some(self.now);
        let side = &mut self.sides[usize::from(facts.agent)];
        let key = side.state.cancel(id, None, self.now);
        side.keys.push((key, What::Ask(call as u8, number as u8)));
    }

    fn app_cancel(&mut self, call: usize) {
        self.left.app_cancels -= 1;
        let id = self.id(call);
        let side = &self.sides[usize::from(self.calls[call].agent)];
        let Some(connection) = side.connection else {
            return;
        };
        if self.calls[call].session == Some(side.session) {
            let facts = &mut self.calls[call];
            facts.cause |= facts.in_flight();
            facts.cancels += u8::from(facts.in_flight());
            let key = self
                .host
                .cancel_here(connection, id.as_str(), None, self.now);
            self.app_cancels.push((key, call as u8));
        }
    }

    fn call_from(&mut self, parent: usize) {
        let Some((child, key)) = self.child_of(parent).zip(self.host_key(parent)) else {
            return;
        };
        let stopping = self.calls[parent].signalled > 0;
        self.calls[parent].knows |= stopping;
        let request = self.request(child);
        self.calls[child].made = true;
        self.calls[child].cause |= stopping;
        let key = self.host.call_from(key, request, self.now);
        self.took(child, key);
    }

    fn ask(&mut self, call: usize) {
        self.left.questions -= 1;
        let Some(key) = self.host_key(call) else {
            return;
        };
        self.calls[call].knows |= self.calls[call].signalled > 0;
        let question = Question {
            method: String::new(),
            request: 2,
            timeout: Some(TIMEOUT),
        };
        self.calls[call].times.question = Some(self.now);
        let key = self.host.elicit(key, question, self.now);
        self.questions.push((key, call as u8));
    }

    pub fn request(&self, call: usize) -> CallRequest<u32> {
        CallRequest {
            id: self.id(call),
            capability: self.calls[call].wanted.kind.capability().into(),
            params: call as u32,
            timeout: self.calls[call].wanted.timeout.then_some(TIMEOUT),
            token: None,
            bytes: 1,
        }
    }

    /// The host has accepted or refused a call.
    pub fn took(&mut self, call: usize, key: CallKey) {
        self.host_keys.push((key, call as u8));
        if self.host.is_in_flight(key) {
            let facts = &mut self.calls[call];
            facts.session = Some(self.sides[usize::from(facts.agent)].session);
            facts.times.accepted = Some(self.now);
            self.taken.push(call as u8);
        }
    }

    fn end_handler(&mut self, call: usize, how: HandlerEnd, told: bool) {
        let Some(key) = self.host_key(call) else {
            return;
        };
        let facts = &mut self.calls[call];
        facts.end = Some(how);
        facts.ended_first = facts.signalled == 0;
        facts.knows |= told;
        facts.cause |= how == HandlerEnd::StoppedItself;
        let result = match how {
            HandlerEnd::Returned => Ok(100 + call as u32),
            HandlerEnd::StoppedItself => Err(Error::cancelled()),
            HandlerEnd::Threw | HandlerEnd::Terminated => Err(Error::new(
                crate::call::Code::OPERATION_FAILED,
                "The handler threw",
            )),
        };
        if told && facts.wanted.kind == Kind::Worker {
            self.host.reached(key, Some(Step::Signal));
        }
        self.host.settle(key, result, told, self.now);
    }
}
