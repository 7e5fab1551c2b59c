//! Each rule of the agent's half, on its own.

mod calls;
mod cancels;
mod crowds;
mod ends;
mod exact;
mod late;
mod lists;
mod liveness;
mod reconnects;
mod timeouts;

use super::*;
use crate::call::{CallId, Grade, LateEnd, Millis, Stop};
use crate::dialect::answers::{Answer, Confirmation};

type State = AgentState<&'static str>;
type Step = Action<&'static str>;

/// An agent, the time, and what it has asked for.
struct Agent {
    state: State,
    now: Millis,
}

impl Agent {
    fn new() -> Self {
        Agent::with(AgentOptions::default())
    }

    fn with(options: AgentOptions) -> Self {
        Agent {
            state: AgentState::new(options),
            now: 1_000.0,
        }
    }

    fn make(&mut self, call: Outgoing<&'static str>) -> RequestKey {
        self.state.call(call)
    }

    /// A call that has been sent.
    fn sent(&mut self, id: &str) -> RequestKey {
        self.sent_call(call(id))
    }

    fn sent_call(&mut self, call: Outgoing<&'static str>) -> RequestKey {
        let key = self.make(call);
        // Where no time is needed, any time may be given.
        let needed = self.state.needs_time();
        self.state.flush(if needed { self.now } else { f64::NAN });
        self.actions();
        key
    }

    /// The key of a cancel that has been sent.
    fn cancel(&mut self, call: &str) -> RequestKey {
        let key = self.state.cancel(id(call), None, self.now);
        assert_eq!(self.actions(), [sends_cancel(key, call)]);
        key
    }

    fn abort(&mut self, key: RequestKey) {
        self.state.abort(key, Some("enough".into()), self.now);
    }

    fn confirm(&mut self, cancel: RequestKey) {
        self.confirm_as(cancel, Stop::Dropped);
    }

    fn confirm_as(&mut self, cancel: RequestKey, grade: impl Into<Grade>) {
        let confirmation = Confirmation::Cancelled(grade.into());
        self.state.cancelled(cancel, None, confirmation, None, None);
    }

    fn refuse(&mut self, cancel: RequestKey, reason: &str) {
        let reason = Some(reason.into());
        self.state.cancelled(cancel, None, REFUSED, reason, None);
    }

    fn refuse_with(&mut self, cancel: RequestKey, confirmation: Confirmation, error: &'static str) {
        self.state
            .cancelled(cancel, None, confirmation, None, Some(error));
    }

    fn answer(&mut self, call: RequestKey, response: &'static str) {
        let answer = match response {
            "cancelled" => Answer::Cancelled(Stop::Dropped.into()),
            "DISCONNECTED" => Answer::Undecided,
            _ => Answer::Succeeded,
        };
        self.state.called(call, answer, response);
    }

    /// Lets time pass, deadline by deadline.
    fn wait(&mut self, milliseconds: Millis) {
        let until = self.now + milliseconds;
        while let Some(next) = self.state.next_deadline().filter(|next| *next <= until) {
            assert!(next > self.now - 1e-9, "a deadline lies in the past");
            self.now = next;
            self.state.handle_timeout(next);
        }
        self.now = until;
    }

    fn actions(&mut self) -> Vec<Action<&'static str>> {
        std::iter::from_fn(|| self.state.poll_action()).collect()
    }

    /// Nothing is held any more, except what is remembered.
    fn assert_at_rest(&mut self) {
        assert_eq!((self.state.pending(), self.state.pending_cancels()), (0, 0));
        assert_eq!(self.state.next_deadline(), None);
        assert_eq!(self.actions(), []);
    }
}

const REFUSED: Confirmation = Confirmation::Refused {
    lost_session: false,
};

const NO_SESSION: Confirmation = Confirmation::Refused { lost_session: true };

fn id(text: &str) -> CallId {
    CallId::parse(text).unwrap()
}

fn call(text: &str) -> Outgoing<&'static str> {
    Outgoing {
        id: id(text),
        capability: "export.pdf".into(),
        params: Some("params"),
        timeout: None,
        progress: false,
        transfer: false,
    }
}

fn sends_cancel(key: RequestKey, call: &str) -> Action<&'static str> {
    Action::Send(
        key,
        Request::Cancel {
            call: id(call),
            reason: None,
        },
    )
}

fn cancelled(key: RequestKey) -> Action<&'static str> {
    Action::Settle(key, Settled::Cancelled(Stop::Dropped.into()))
}

fn never_started(key: RequestKey) -> Action<&'static str> {
    Action::Settle(key, Settled::Cancelled(Stop::NeverStarted.into()))
}

fn responded(key: RequestKey, response: &'static str) -> Action<&'static str> {
    Action::Settle(key, Settled::Response(response))
}

fn confirmed(key: RequestKey) -> Action<&'static str> {
    confirmed_as(Stop::Dropped, key)
}

fn confirmed_as(grade: impl Into<Grade>, key: RequestKey) -> Action<&'static str> {
    Action::SettleCancel(key, CancelOutcome::confirmed(grade))
}

fn refused(key: RequestKey, reason: &str) -> Action<&'static str> {
    Action::SettleCancel(key, CancelOutcome::refused(reason))
}

/// The code of what a call, or a cancel, failed with.
fn failure(action: &Step) -> Option<&str> {
    match action {
        Action::Settle(_, Settled::Failed(error)) => Some(error.code.as_str()),
        Action::SettleCancel(
            _,
            CancelOutcome {
                grade: None,
                error: Some(Err(error)),
                ..
            },
        ) => Some(error.code.as_str()),
        _ => None,
    }
}
