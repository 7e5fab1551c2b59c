//! Cancels, by agents, by the app and by capabilities.

use std::rc::Rc;

use super::state::not_initialized;
use super::stopping::Asker;
use super::{Action, Answer, CancelKey, ConnectionId, HostState};
use crate::call::{CallId, CallKey, CancelAnswer, Error, Millis, Standing};

/// What a cancel answers: an error when there is no session.
pub type Cancelled<P> = Result<CancelAnswer, Error<P>>;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// An agent cancels. The answer comes as an action: after those that stop the handlers, before
    /// the one that answers the call, and as soon as it is known how far the stop was seen.
    /// `given` is the callId as it was written.
    pub fn cancel(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        given: P,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        let asker = Asker::Agent(connection, id, given);
        self.cancel_for(asker, connection, call, reason, now);
    }

    /// The app itself, or whoever watches it, cancels a call of any session. Answered with
    /// [`Action::Confirm`] under the key returned.
    pub fn cancel_here(
        &mut self,
        connection: ConnectionId,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) -> CancelKey {
        let key = self.next_key();
        self.cancel_for(Asker::App(key), connection, call, reason, now);
        key
    }

    /// Whoever made a call cancels it: a capability, or an agent whose signal has fired already.
    /// Nothing comes of one that was refused.
    pub fn cancel_child(&mut self, key: CallKey, reason: Option<Rc<str>>, now: Millis) {
        self.cancel_tree(key, reason.as_ref(), now);
    }

    fn cancel_for(
        &mut self,
        asker: Asker<P>,
        connection: ConnectionId,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        let standing = self.session(connection).map(|it| it.ledger.standing(call));
        let in_flight = match standing {
            Some(Standing::InFlight(key)) => Some(key),
            Some(_) => None,
            // A shutdown has ended the session, and waits for the call as this does.
            None => self.stopping_without_session(connection, call),
        };
        if let Some(key) = in_flight {
            if let Some(call) = self.calls.get_mut(&key) {
                call.askers.push((asker, reason.clone()));
            }
            return self.cancel_tree(key, reason.as_ref(), now);
        }
        let answer = match self.session(connection) {
            Some(session) => Ok(session.ledger.answer(call)),
            None => Err(not_initialized()),
        };
        // A cancel of no call of this session is nothing to watch, and agents ask for a sign of
        // life with one.
        if let (Ok(answer), Some(session), Ok(id)) =
            (&answer, self.session_id(connection), CallId::parse(call))
            && self.watched
            && *answer != CancelAnswer::NotFound
        {
            let answer = *answer;
            self.actions.push_back(Action::CancelAnswered {
                session,
                id,
                answer,
                reason,
            });
        }
        match asker {
            Asker::Agent(to, id, given) => self.answer(to, id, Answer::Cancelled(given, answer)),
            Asker::App(key) => self.actions.push_back(Action::Confirm { key, answer }),
        }
    }
}
