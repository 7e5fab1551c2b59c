//! What comes of the calls a tool server works on.

use serde_json::Value;

use super::ToolServerApp;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::runtime::delivery::Undelivered;
use crate::fronts::rap::runtime::result::Outcome;
use crate::fronts::rap::wire::SubscriptionEvent;
use caphost::call::{Code, Error, Stop};

/// What comes from a tool server, or from the delivery to it.
pub enum Input {
    /// A result.
    Result {
        thread: Identifier,
        id: Identifier,
        subscription: bool,
        outcome: Outcome,
    },
    /// A callback for a call that could not be read.
    Unreadable { id: Identifier, error: Error<Value> },
    /// An event of a subscription.
    Event(SubscriptionEvent),
    /// An invocation was not acknowledged.
    Undelivered {
        id: Identifier,
        undelivered: Undelivered,
    },
}

impl ToolServerApp<'_> {
    /// Deals with an input.
    pub fn input(&mut self, input: Input) {
        let now = self.now();
        match input {
            Input::Result {
                thread,
                id,
                subscription,
                outcome,
            } => {
                let key = self.calls.find(&thread, &id);
                let ended = key.and_then(|key| Some((key, self.calls.remove(key)?)));
                let Some((key, running)) = ended else {
                    self.parts.counters().results_dropped.add();
                    // The result comes too late, but it says that the work has ended.
                    if let Some(key) = self.calls.ended_late(Some(&thread), &id) {
                        self.state.settle(key, outcome, true, now);
                    }
                    return;
                };
                running.dispatch.end();
                if subscription && outcome.is_ok() {
                    self.subscribe(&running);
                }
                self.parts.counters().results.add();
                match outcome {
                    // The server says that it has cancelled the call. Nobody knows whether the work has stopped.
                    Err(error) if error.code == Code::CANCELLED => {
                        self.state.cancel_child(key, None, now);
                        self.state.stopped(key, Stop::Abandoned, now);
                        // The call has ended, which is reported as well.
                        self.state.settle(key, Err(error), true, now);
                    }
                    outcome => self.state.settle(key, outcome, true, now),
                }
            }
            Input::Event(event) => self.event(event),
            Input::Unreadable { id, error } => match self.calls.ended_late(None, &id) {
                Some(key) => self.state.settle(key, Err(error), true, now),
                None => self.fail(&id, error),
            },
            Input::Undelivered { id, undelivered } => {
                let Undelivered { error, may_run } = undelivered;
                if !may_run && let Some(key) = self.calls.ended_late(None, &id) {
                    return self.state.settle(key, Err(error), true, now);
                }
                self.parts.look.notify_one();
                if may_run
                    && let Some(key) = self.calls.find_any(&id)
                    && let Some(running) = self.calls.get_mut(key)
                {
                    let (thread, keep) = (&running.thread, &self.broker.keep);
                    self.parts.notices.cancelled(thread, &id, None, keep);
                }
                self.fail(&id, error);
            }
        }
    }

    fn fail(&mut self, id: &Identifier, error: Error<Value>) {
        let now = self.now();
        let Some(key) = self.calls.find_any(id) else {
            return;
        };
        if let Some(running) = self.calls.remove(key) {
            running.dispatch.end();
            self.state.settle(key, Err(error), true, now);
        }
    }
}
