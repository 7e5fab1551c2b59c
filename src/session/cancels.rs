//! Cancels, by agents, by the app and by capabilities.

use std::rc::Rc;

use super::action::{Action, Answer};
use super::records::{Asker, Session};
use super::state::{HostState, not_initialized};
use super::terms::{CancelKey, ConnectionId};
use crate::call::{CallId, CallKey, CancelAnswer, Millis, Standing};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// An agent cancels. The answer is an action that comes as soon as the host knows how far the
    /// stop was seen: after the actions that stop handlers, and before the response to the call.
    /// `given` is the callId as the agent wrote it.
    pub fn cancel(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        given: P,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        self.heard(connection, now);
        let asker = Asker::Agent(connection, id, given);
        self.cancel_for(asker, connection, call, reason, now);
    }

    /// The app itself, or an observer, cancels a call of any session. The answer is
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

    /// Does the same for a call of any session: for one in flight, else for one that is remembered.
    pub fn cancel_anywhere(
        &mut self,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) -> CancelKey {
        if let Some(connection) = self.connection_with(call) {
            return self.cancel_here(connection, call, reason, now);
        }
        let key = self.next_key();
        let answer = Ok(CancelAnswer::NotFound);
        self.actions.push_back(Action::Confirm { key, answer });
        key
    }

    /// The oldest connection with that call in flight, else the oldest with a session that remembers
    /// the call.
    fn connection_with(&self, call: &str) -> Option<ConnectionId> {
        let open = self.connections.iter();
        let open = open.filter_map(|(key, it)| Some((*key, &it.session.as_ref()?.ledger)));
        let closing = self.closing.iter().map(|it| (it.connection, &it.ledger));
        let all = open.chain(closing);
        let in_flight = all.filter(|(_, ledger)| ledger.key(call).is_some());
        in_flight.map(|(key, _)| key).min().or_else(|| {
            let knows = |it: &Session| it.ledger.standing(call) != Standing::Unknown;
            let known = self.connections.iter();
            let known = known.filter(|(_, it)| it.session.as_ref().is_some_and(knows));
            known.map(|(key, _)| *key).min()
        })
    }

    /// The maker of a call cancels the call: a capability, or an agent whose signal has already
    /// fired. A call that was refused stays refused.
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
            // A shutdown has ended the session and waits for the call. This cancel waits for the
            // call too.
            None => self.stopping_without_session(connection, call),
        };
        if let Some(key) = in_flight {
            if let Some(call) = self.calls.get_mut(&key) {
                call.more().askers.push((asker, reason.clone()));
            }
            return self.cancel_tree(key, reason.as_ref(), now);
        }
        let answer = match self.session(connection) {
            Some(session) => Ok(session.ledger.answer(call)),
            None => Err(not_initialized()),
        };
        // Observers do not hear of cancels that name no call of the session. Agents send such
        // cancels to ask for a sign of life.
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
