//! What reaches the host, and what must stop by that.

use super::scope::TIMEOUT;
use super::world::{Up, What, World};

impl World {
    pub fn receive_at_host(&mut self, agent: usize, message: Up) {
        let Some(connection) = self.sides[agent].connection else {
            return;
        };
        let id = Some(message.key);
        match message.what {
            What::Call(call) | What::Reuse(call) => {
                let again = matches!(message.what, What::Reuse(_));
                let call = usize::from(call);
                let over = self.sides[agent].over;
                self.calls[call].reused_over = again && over;
                let request = self.request(call);
                // Its answer may come within the entry, so the key is known before.
                let key = if self.scope.at_once {
                    self.host.call_at_once(connection, id, request, self.now)
                } else {
                    self.host.call(connection, id, request, self.now)
                };
                if self.host.is_in_flight(key) {
                    if again && self.calls[call].session == Some(self.sides[agent].session) {
                        self.oddity = Some("a callId was taken twice in one session");
                    }
                    if over {
                        self.oddity = Some("a call was taken without a session");
                    }
                    self.took(call, key);
                }
            }
            What::Ask(call, _) | What::Quiet(call) => {
                let call = usize::from(call);
                if self.calls[call].session == Some(self.sides[agent].session)
                    && self.calls[call].in_flight()
                {
                    self.calls[call].cause = true;
                    self.calls[call].cancels += 1;
                }
                let name = self.id(call);
                self.host
                    .cancel(connection, id, 0, name.as_str(), None, self.now);
            }
            What::Shutdown => {
                self.session_over(agent);
                self.host.shutdown(connection, id, None, self.now);
            }
        }
    }

    /// The session is over for the host: all of its calls must stop.
    pub fn session_over(&mut self, agent: usize) {
        let calls: Vec<usize> = self.of_agent(agent).collect();
        for call in calls {
            self.calls[call].cause |= self.calls[call].in_flight();
        }
        self.sides[agent].over = true;
    }

    /// The calls whose timeout has passed must stop.
    pub fn due(&mut self) {
        for facts in &mut self.calls {
            let due = facts.times.accepted.map(|at| at + TIMEOUT <= self.now);
            facts.cause |= facts.wanted.timeout && due == Some(true);
        }
    }

    /// A call stops with the call that made it, and when that has ended.
    pub fn note_causes(&mut self) {
        for child in 0..self.calls.len() {
            if let Some(parent) = self.calls[child].parent {
                let parent = &self.calls[usize::from(parent)];
                let stops = parent.cause || parent.responded.is_some() || parent.end.is_some();
                self.calls[child].cause |= stops;
            }
        }
    }
}
