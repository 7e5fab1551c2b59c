//! Questions from the app to an agent.

use super::action::Action;
use super::records::{DeadlineOf, Elicitation};
use super::state::HostState;
use super::terms::{ConnectionId, ElicitationKey, Question};
use crate::call::{CallKey, Code, Error, Millis, Outcome, Response, Stop, in_order};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// A running call asks its agent. The answer is [`Action::Elicited`] under the key returned.
    pub fn elicit(&mut self, call: CallKey, question: Question<P>, now: Millis) -> ElicitationKey {
        if self.refuses(call) {
            return self.never_asked();
        }
        match self.calls.get(&call).map(|it| it.connection) {
            Some(connection) => self.ask(connection, Some(call), question, now),
            None => self.never_asked(),
        }
    }

    /// The call is being stopped or has ended, so its question is not asked.
    fn never_asked(&mut self) -> ElicitationKey {
        let key = self.next_key();
        self.elicited(key, Outcome::Cancelled(Stop::NeverStarted));
        key
    }

    /// The app asks the agent of a connection, outside any call.
    pub fn ask(
        &mut self,
        connection: ConnectionId,
        call: Option<CallKey>,
        question: Question<P>,
        now: Millis,
    ) -> ElicitationKey {
        let key = self.next_key();
        let Some(session) = self.session(connection) else {
            self.elicited(key, Outcome::Failed(super::state::not_initialized()));
            return key;
        };
        if !session.features.elicitation {
            let error = Error::new(Code::NOT_SUPPORTED, "The agent takes no questions");
            self.elicited(key, Outcome::Failed(error));
            return key;
        }
        if !session.scope.takes(&question.method) {
            let message = format!(
                "The agent takes no questions of the method \"{}\"",
                question.method
            );
            self.elicited(
                key,
                Outcome::Failed(Error::new(Code::NOT_SUPPORTED, message)),
            );
            return key;
        }
        let asked = Elicitation { connection, call };
        self.elicitations.insert(key, Box::new(asked));
        if let Some(call) = call.and_then(|call| self.calls.get_mut(&call)) {
            call.more().elicitations.insert(key);
        }
        if let Some(timeout) = question.timeout {
            self.deadlines
                .insert(now + timeout, DeadlineOf::Elicitation(key));
        }
        self.say(Action::Elicit {
            to: connection,
            key,
            request: question.request,
        });
        key
    }

    /// An agent has answered. An answer that nobody waits for, or that comes from another agent, is
    /// dropped.
    pub fn answered(
        &mut self,
        connection: ConnectionId,
        key: ElicitationKey,
        result: Result<P, Error<P>>,
    ) {
        let asked = self.elicitations.get(&key);
        if asked.is_some_and(|asked| asked.connection == connection) {
            self.remove(key);
            self.elicited(
                key,
                match result {
                    // Nobody has seen the asked person or program stop.
                    Err(error) if error.code == Code::CANCELLED => {
                        Outcome::Cancelled(Stop::Abandoned)
                    }
                    result => result.into(),
                },
            );
        }
    }

    /// How many questions wait for an answer.
    pub fn pending_elicitations(&self) -> usize {
        self.elicitations.len()
    }

    /// Takes a question back. A later answer reaches nobody, and nobody has seen the asked person
    /// or program stop.
    pub fn withdraw(&mut self, key: ElicitationKey) {
        if let Some(asked) = self.remove(key) {
            let to = asked.connection;
            self.say(Action::Withdraw { to, key });
            self.elicited(key, Outcome::Cancelled(Stop::Abandoned));
        }
    }

    pub(super) fn elicitation_timed_out(&mut self, key: ElicitationKey) {
        if let Some(asked) = self.remove(key) {
            let to = asked.connection;
            self.say(Action::Withdraw { to, key });
            let error = Error::new(Code::TIMEOUT, "The agent did not answer in time");
            self.elicited(key, Outcome::Failed(error));
        }
    }

    /// The session is over, so its questions will not be answered.
    pub(super) fn disown_elicitations(&mut self, connection: ConnectionId) {
        let asked = self.elicitations.iter();
        let asked = asked.filter(|(_, asked)| asked.connection == connection);
        for key in in_order(asked.map(|(key, _)| *key)) {
            self.remove(key);
            let error = Error::new(Code::DISCONNECTED, "The agent is gone");
            self.elicited(key, Outcome::Failed(error));
        }
    }

    fn remove(&mut self, key: ElicitationKey) -> Option<Box<Elicitation>> {
        let asked = self.elicitations.remove(&key)?;
        if let Some(call) = asked.call.and_then(|call| self.calls.get_mut(&call)) {
            call.more().elicitations.remove(&key);
        }
        self.forget_deadline();
        Some(asked)
    }

    fn elicited(&mut self, key: ElicitationKey, outcome: Outcome<P>) {
        let response = Response {
            outcome,
            duration: None,
            by: None,
        };
        self.actions.push_back(Action::Elicited { key, response });
    }
}
