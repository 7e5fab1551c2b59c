//! Everything that can happen next.

use super::facts::HandlerEnd;
use super::world::World;

/// One step. Calls and agents by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An agent makes its next call.
    Make(u8),
    /// The agent's microtask: its new calls are sent.
    Flush(u8),
    /// The caller cancels.
    Cancel(u8),
    /// The caller's signal fires.
    Abort(u8),
    /// The app cancels.
    AppCancel(u8),
    /// The agent sends the call again, under the same callId.
    Reuse(u8),
    /// The next message to the host arrives, or is lost.
    Up(u8),
    LoseUp(u8),
    /// The next message to the agent arrives, is lost, or arrives and will arrive again.
    Down(u8),
    LoseDown(u8),
    Repeat(u8),
    /// The host's microtask: calls start.
    Turn,
    /// The parameters of a call have been checked, or a person has answered. The flag says whether
    /// they fit, or the call is allowed.
    Checked(u8, bool),
    /// A handler ends. The flag says that it has taken its signal.
    End(u8, HandlerEnd, bool),
    /// A handler calls, or cancels what it called.
    Child(u8),
    CancelChild(u8),
    /// A handler reports progress, or asks its agent; the agent answers.
    Report(u8),
    Question(u8),
    AnswerQuestion(u8),
    /// The end of a worker is proven, or is known to be unprovable.
    Proof(u8, bool),
    /// Time passes until the next deadline of the host, or of an agent.
    HostTick,
    AgentTick(u8),
    /// The agent ends its session.
    Shutdown(u8),
    /// The connection breaks, and each side notices.
    Cut(u8),
    HostNotices(u8),
    AgentNotices(u8),
    Reconnect(u8),
    /// The app stops waiting for its handlers.
    GiveUp,
}

impl Event {
    /// Whether this need not happen: somebody may wish so, or something breaks.
    pub fn is_optional(self) -> bool {
        use Event::*;
        matches!(
            self,
            Make(_)
                | Cancel(_)
                | Abort(_)
                | AppCancel(_)
                | Reuse(_)
                | Child(_)
                | CancelChild(_)
                | Report(_)
                | Question(_)
                | Shutdown(_)
                | LoseUp(_)
                | LoseDown(_)
                | Repeat(_)
                | Cut(_)
                | GiveUp
        )
    }
}

impl World {
    /// What can happen next.
    pub fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for agent in 0..self.sides.len() {
            self.events_of_agent(agent, &mut events);
        }
        // An agent that only receives from now on changes nothing for anybody else, so the order does
        // not matter.
        if let Some(only) = self.receives_only() {
            return vec![only];
        }
        for call in 0..self.calls.len() {
            self.events_of_call(call, &mut events);
        }
        if self.wake {
            events.push(Event::Turn);
        }
        if self.left.ticks > 0 && self.host.next_deadline().is_some() {
            events.push(Event::HostTick);
        }
        let stopping = |it: &super::facts::Facts| it.in_flight() && it.signalled > 0;
        if self.left.give_up && self.calls.iter().any(stopping) {
            events.push(Event::GiveUp);
        }
        events
    }

    fn events_of_agent(&mut self, agent: usize, events: &mut Vec<Event>) {
        let left = self.left;
        let tick = left.ticks > 0 && self.sides[agent].state.next_deadline().is_some();
        let side = &self.sides[agent];
        let of = agent as u8;
        let next = self
            .roots(agent)
            .find(|call| !self.calls[*call].made)
            .is_some();
        if next && !side.closed {
            events.push(Event::Make(of));
        }
        if side.flush {
            events.push(Event::Flush(of));
        }
        if !side.up.is_empty() {
            events.push(Event::Up(of));
            if left.losses > 0 {
                events.push(Event::LoseUp(of));
            }
        }
        if let Some(next) = side.down.front() {
            events.push(Event::Down(of));
            if left.losses > 0 {
                events.push(Event::LoseDown(of));
            }
            if left.repeats > 0 && next.may_come_twice() {
                events.push(Event::Repeat(of));
            }
        }
        if tick {
            events.push(Event::AgentTick(of));
        }
        if left.shutdowns > 0 && !side.closed && !side.shutting {
            events.push(Event::Shutdown(of));
        }
        if left.cuts > 0 && !side.cut && !side.closed {
            events.push(Event::Cut(of));
        }
        if side.cut && side.connection.is_some() {
            events.push(Event::HostNotices(of));
        }
        if side.cut && !side.noticed && !side.closed {
            events.push(Event::AgentNotices(of));
        }
        if side.lost && side.connection.is_none() && !side.closed {
            events.push(Event::Reconnect(of));
        }
    }

    fn events_of_call(&self, call: usize, events: &mut Vec<Event>) {
        let (of, left) = (call as u8, &self.left);
        let facts = &self.calls[call];
        let side = &self.sides[usize::from(facts.agent)];
        let asked = facts.asks.iter().filter(|ask| ask.asked).count();
        let exists = facts.made || facts.session.is_some();
        if exists && asked < usize::from(facts.wanted.cancels) && !side.closed {
            events.push(Event::Cancel(of));
        }
        if facts.wanted.aborts && facts.made && !facts.aborted && facts.settled.is_none() {
            events.push(Event::Abort(of));
        }
        if left.app_cancels > 0 && facts.session.is_some() {
            events.push(Event::AppCancel(of));
        }
        if left.reuses > 0 && facts.sent && facts.reused.is_none() && !side.cut {
            events.push(Event::Reuse(of));
        }
        if facts.checking {
            events.push(Event::Checked(of, true));
            events.push(Event::Checked(of, false));
        }
        if facts.runs() {
            self.events_of_handler(call, events);
        }
        if facts.terminating && facts.end.is_none() {
            events.push(Event::Proof(of, true));
            events.push(Event::Proof(of, false));
        }
        if facts.question_open && !side.cut {
            events.push(Event::AnswerQuestion(of));
        }
    }

    fn events_of_handler(&self, call: usize, events: &mut Vec<Event>) {
        let (of, left) = (call as u8, &self.left);
        let facts = &self.calls[call];
        let script = !facts.wanted.kind.is_dropped();
        let stopped = facts.signalled > 0;
        events.push(Event::End(of, HandlerEnd::Returned, false));
        if script && stopped {
            events.push(Event::End(of, HandlerEnd::Returned, true));
        }
        events.push(Event::End(of, HandlerEnd::Threw, false));
        if self.scope.stops_itself {
            events.push(Event::End(of, HandlerEnd::StoppedItself, false));
        }
        if let Some(child) = self.child_of(call) {
            if !self.calls[child].made {
                events.push(Event::Child(of));
            } else if self.calls[child].in_flight() && left.app_cancels > 0 {
                events.push(Event::CancelChild(of));
            }
        }
        if left.reports > 0 {
            events.push(Event::Report(of));
        }
        if left.questions > 0 && !facts.question_open {
            events.push(Event::Question(of));
        }
    }

    /// The delivery to an agent that will do nothing of its own any more.
    fn receives_only(&mut self) -> Option<Event> {
        if self.left.losses > 0 || self.left.repeats > 0 || self.left.cuts > 0 {
            return None;
        }
        (0..self.sides.len()).find_map(|agent| {
            let (waits, tick) = (
                !self.sides[agent].down.is_empty(),
                self.left.ticks > 0 && self.sides[agent].state.next_deadline().is_some(),
            );
            let acts = tick
                || self.left.shutdowns > 0
                || self.left.reuses > 0
                || self.left.questions > 0
                || self.sides[agent].flush
                || self.sides[agent].lost
                || self.sides[agent].shutting
                || self.of_agent(agent).any(|call| {
                    let facts = &self.calls[call];
                    let asked = facts.asks.iter().filter(|ask| ask.asked).count();
                    let makes = facts.parent.is_none() && !facts.made;
                    let aborts = facts.wanted.aborts && !facts.aborted && facts.settled.is_none();
                    makes || aborts || asked < usize::from(facts.wanted.cancels)
                });
            (waits && !acts).then_some(Event::Down(agent as u8))
        })
    }
}
