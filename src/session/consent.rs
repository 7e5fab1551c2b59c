//! Consent: a call that waits until a person allows it. Only then does it get a slot and start.
//!
//! The app asks the person, if it shows an interface for that, or else the agent does. The first
//! answer counts. A cancel, a timeout or a lost agent ends the call like any call that waits, and
//! withdraws the question to the agent.

use super::action::{Action, Asked, CallState};
use super::records::Phase;
use super::state::HostState;
use crate::call::{CallKey, Code, Error, Millis, Outcome};

/// How many calls of a session may wait for consent. A person cannot judge more.
const ASKED: usize = 16;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// An interface of the app begins to show people which calls wait for consent (`on`), or ends.
    /// When the last interface has ended, the agents are asked instead.
    pub fn show_consents(&mut self, on: bool, now: Millis) {
        self.interfaces = match on {
            true => self.interfaces + 1,
            false => self.interfaces.saturating_sub(1),
        };
        if self.interfaces == 0 {
            for key in self.calls_in(Some(Phase::Asking(Asked::App)), None) {
                self.ask_person(key, now);
            }
        }
    }

    /// The parameters of a call fit: the call waits for consent if its capability says so, else
    /// for a slot.
    pub(super) fn pass(&mut self, key: CallKey, now: Millis) {
        let Some(call) = self.calls.get(&key) else {
            return;
        };
        if !call.capability.descriptor.confirm {
            return self.line_up(key, now);
        }
        let connection = call.connection;
        let session = self.session_mut(connection);
        if let Some(session) = session.filter(|it| it.asked < ASKED) {
            session.asked += 1;
            self.ask_person(key, now);
        } else {
            self.end(key, Outcome::Failed(too_many()), now);
        }
    }

    fn ask_person(&mut self, key: CallKey, now: Millis) {
        let asked = match self.interfaces {
            0 => Asked::Agent,
            _ => Asked::App,
        };
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        call.phase = Phase::Asking(asked);
        let connection = call.connection;
        let session = self.session(connection);
        if asked == Asked::Agent && !session.is_some_and(|it| it.features.elicitation) {
            self.consent(key, None, now);
        } else {
            self.tell_consent(key, Some(asked));
        }
    }

    /// A person has allowed a call, or denied it, or nobody could be asked (`None`). False if the
    /// call does not wait for consent.
    pub fn consent(&mut self, key: CallKey, allowed: Option<bool>, now: Millis) -> bool {
        let waited = self.stop_asking(key);
        if waited && allowed == Some(true) {
            self.tell_consent(key, None);
            self.line_up(key, now);
        } else if waited {
            let error = match allowed {
                Some(_) => Error::new(Code::PERMISSION_DENIED, "A person has denied the call"),
                None => Error::new(
                    Code::PERMISSION_REQUIRED,
                    "Nobody could be asked to allow it",
                ),
            };
            self.end(key, Outcome::Failed(error), now);
        }
        waited
    }

    fn tell_consent(&mut self, key: CallKey, asked: Option<Asked>) {
        let call = self.calls.get(&key);
        if let Some((call, params)) = call.and_then(|it| Some((it, it.params.clone()?))) {
            let event = self.event(call, CallState::Consent(key, asked, params));
            self.actions.push_back(Action::Call(event));
        }
    }

    /// A call waits for consent no longer. False if it did not.
    pub(super) fn stop_asking(&mut self, key: CallKey) -> bool {
        let call = self.calls.get_mut(&key);
        let Some(call) = call.filter(|it| matches!(it.phase, Phase::Asking(_))) else {
            return false;
        };
        call.phase = Phase::Checking;
        let connection = call.connection;
        if let Some(session) = self.session_mut(connection) {
            session.asked -= 1;
        }
        true
    }
}

/// The refusal of one call more than a bound allows.
pub(super) fn too_many<P>() -> Error<P> {
    Error::new(Code::RATE_LIMITED, "Too many calls are in flight")
}
