//! Calls, from acceptance to their end.

use std::rc::Rc;

use super::action::{Action, CallState, ReplyTo};
use super::consent::too_many;
use super::records::{Call, DeadlineOf, Parent, Phase, Stopping};
use super::state::{HostState, not_initialized};
use super::stopping::PARENT_ENDED;
use super::terms::{CallRequest, ConnectionId};
use crate::call::{CallKey, Code, Error, Millis, Outcome, Response, Standing};
use crate::offers::{Registered, near};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// An agent calls. A refused call is answered at once and not remembered. Returns the key of
    /// the call.
    pub fn call(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        request: CallRequest<P>,
        now: Millis,
    ) -> CallKey {
        self.heard(connection, now);
        let to = ReplyTo::Agent(connection, id);
        self.enter(connection, to, None, request, now)
    }

    /// Does the same, and starts the handlers whose turn has come at once, unless the host is
    /// observed. For a call that came in a job of its own, in which no code of the app runs.
    pub fn call_at_once(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        request: CallRequest<P>,
        now: Millis,
    ) -> CallKey {
        // Observers hear of a call before its handler starts, in a job that comes after this one.
        if self.watched {
            return self.call(connection, id, request, now);
        }
        // Nobody has to wake the shell.
        self.waking = true;
        let key = self.call(connection, id, request, now);
        self.run_ready();
        key
    }

    /// A capability calls another. The answer is [`Action::Respond`] to [`ReplyTo::Parent`] under
    /// the key returned. If the calling capability is being stopped, its new call is cancelled
    /// before the start.
    pub fn call_from(&mut self, parent: CallKey, request: CallRequest<P>, now: Millis) -> CallKey {
        let refuses = self.refuses(parent);
        let Some(to) = self.calls.get(&parent).and_then(|call| {
            let session = &self.session(call.connection)?.id;
            Rc::ptr_eq(session, &call.session).then_some(call.connection)
        }) else {
            return self.refuse_child(Error::new(Code::PRECONDITION_FAILED, PARENT_ENDED));
        };
        let key = self.enter(to, ReplyTo::Parent, Some(parent), request, now);
        if refuses {
            self.cancel_tree(key, None, now);
        }
        key
    }

    fn enter(
        &mut self,
        connection: ConnectionId,
        reply: ReplyTo<P>,
        parent: Option<CallKey>,
        request: CallRequest<P>,
        now: Millis,
    ) -> CallKey {
        let key = self.next_key();
        match self.admit(connection, parent, &request, now) {
            Ok(capability) => {
                let parent = parent.and_then(|parent| self.begin_child(parent, key));
                self.accept(connection, reply, parent, request, capability, key, now);
            }
            Err(error) => self.say(Action::Respond {
                key,
                to: reply,
                response: Response::refused(error),
            }),
        }
        key
    }

    /// No capability has that name. An agent is told the names alone that it may use.
    fn unknown(&self, name: &str, agent: Option<ConnectionId>) -> Error<P> {
        let session = agent.and_then(|it| self.session(it));
        let message = format!("There is no capability \"{name}\"");
        let mut error = Error::new(Code::UNKNOWN_CAPABILITY, message);
        let names = self.registry.iter().map(|it| &*it.descriptor.name);
        error.alternatives = near(
            name,
            &mut names.filter(|it| session.is_none_or(|of| of.scope.has_capability(it))),
        );
        error
    }

    /// Whether a call is accepted, and the capability that it calls.
    fn admit(
        &mut self,
        connection: ConnectionId,
        parent: Option<CallKey>,
        request: &CallRequest<P>,
        now: Millis,
    ) -> Result<Rc<Registered<P, H>>, Error<P>> {
        let limits = self.limits;
        let session = self.session_mut(connection).ok_or_else(not_initialized)?;
        if let Err(wait) = session.rate.take(&limits, now) {
            let mut error = Error::new(Code::RATE_LIMITED, "Too many requests");
            error.retry_after = Some(wait);
            return Err(error);
        }
        if session.ledger.standing(&request.id) != Standing::Unknown {
            let message = format!("The callId \"{}\" was used before", request.id);
            return Err(Error::invalid_params(message));
        }
        if session.ledger.in_flight() >= limits.in_flight || session.bytes >= limits.in_flight_bytes
        {
            return Err(too_many());
        }
        // The agent's scope does not limit the calls that a capability makes.
        if parent.is_none() && !session.scope.has_capability(&request.capability) {
            let message = format!(
                "The capability \"{}\" was not requested for this session",
                request.capability
            );
            return Err(Error::new(Code::UNKNOWN_CAPABILITY, message));
        }
        let Some(capability) = self.registry.get(&request.capability).cloned() else {
            let of_agent = parent.is_none().then_some(connection);
            return Err(self.unknown(&request.capability, of_agent));
        };
        let descriptor = &capability.descriptor;
        if !descriptor.available {
            let message = format!("\"{}\" is not available right now", request.capability);
            let mut error = Error::new(Code::CAPABILITY_UNAVAILABLE, message);
            error.alternatives = descriptor.alternatives.clone();
            return Err(error);
        }
        Ok(capability)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of the call")]
    fn accept(
        &mut self,
        connection: ConnectionId,
        reply: ReplyTo<P>,
        parent: Option<Parent>,
        request: CallRequest<P>,
        capability: Rc<Registered<P, H>>,
        key: CallKey,
        now: Millis,
    ) {
        let Some(session) = self.session_mut(connection) else {
            return;
        };
        session.ledger.enter(&request.id, key);
        session.bytes += request.bytes;
        let session = session.id.clone();
        self.counters.calls += 1;
        if let Some(timeout) = request.timeout {
            self.deadlines.insert(now + timeout, DeadlineOf::Call(key));
        }
        // A copy of the parameters costs a place in the table of the module.
        let seen = self.watched.then(|| request.params.clone());
        let descriptor = &capability.descriptor;
        let check = descriptor.checked.then(|| Action::Check {
            key,
            capability: descriptor.name.clone(),
            params: request.params.clone(),
        });
        let call = Call {
            id: request.id,
            connection,
            session,
            capability,
            phase: Phase::Checking,
            params: Some(request.params),
            accepted: now,
            reply,
            parent: parent.map(Box::new),
            stopping: Stopping::default(),
            more: None,
            token: request.token,
            bytes: request.bytes,
            has_slot: false,
            deadlines: usize::from(request.timeout.is_some()),
        };
        self.calls.insert(key, Box::new(call));
        if let Some(params) = seen {
            self.watch_call(key, CallState::Queued(params));
        }
        match check {
            Some(check) => self.actions.push_back(check),
            None => self.pass(key, now),
        }
    }

    /// The shell has checked a call's parameters.
    pub fn checked(&mut self, key: CallKey, result: Result<(), Error<P>>, now: Millis) {
        let Some(call) = self
            .calls
            .get(&key)
            .filter(|call| call.phase == Phase::Checking)
        else {
            return;
        };
        debug_assert!(!call.has_slot);
        match result {
            Ok(()) => self.pass(key, now),
            Err(error) => self.end(key, Outcome::Failed(error), now),
        }
    }

    /// Tells the agents about changed capabilities, and starts every call that has its turn by now.
    /// Calls start in order, each when everything that the call before has led to is done.
    pub fn run_ready(&mut self) {
        self.waking = false;
        self.tell_changes();
        self.turn = self.ready.len();
    }

    pub(super) fn start_next(&mut self) -> Option<Action<P, H>> {
        while self.turn > 0 {
            self.turn -= 1;
            let key = self.ready.pop_front()?;
            let ready = self.calls.get_mut(&key);
            let Some(call) = ready.filter(|call| call.phase == Phase::Ready) else {
                continue;
            };
            call.phase = Phase::Running;
            let Some(params) = call.params.take() else {
                continue;
            };
            let (id, capability) = (call.id.clone(), call.capability.clone());
            self.watch_call(key, CallState::Running);
            self.actions.push_back(Action::Start {
                key,
                id,
                capability: capability.descriptor.name.clone(),
                handler: capability.handler.clone(),
                params,
            });
            return self.actions.pop_front();
        }
        None
    }

    /// A handler has ended. `told` says that the handler has taken its signal. A handler that
    /// reports [`Code::CANCELLED`] has stopped by itself. A result that comes after the end of its
    /// call is dropped and counted, and reported if the call was answered as abandoned.
    pub fn settle(&mut self, key: CallKey, result: Result<P, Error<P>>, told: bool, now: Millis) {
        let Some(call) = self.calls.get(&key) else {
            return self.settle_late(key, result.is_ok(), now);
        };
        match (call.phase, result) {
            (Phase::Running, Err(error)) if error.code == Code::CANCELLED => {
                self.stopped_itself(key, now);
            }
            (Phase::Running, result) => self.end(key, result.into(), now),
            // Only the first report counts.
            (Phase::Stopping, result) if call.stopping.own.is_none() => {
                self.settle_stopping(key, result, told, now);
            }
            _ => self.counters.late_results += 1,
        }
    }

    /// A handler has done its work, but its data cannot be sent. The call has failed; it counts as
    /// cancelled only if the handler was told to stop.
    pub fn settle_unfit(&mut self, key: CallKey, error: Error<P>, told: bool, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            return self.settle_late(key, true, now);
        };
        let stopping = call.phase == Phase::Stopping && call.stopping.own.is_none();
        call.stopping.told |= told;
        if stopping && !call.stopping.told {
            self.finish(key, Outcome::Failed(error), now);
        } else {
            self.settle(key, Err(error), told, now);
        }
    }

    /// A child call that cannot be read. The answer comes under the key returned.
    pub fn refuse_child(&mut self, error: Error<P>) -> CallKey {
        let key = self.next_key();
        self.actions.push_back(Action::Respond {
            key,
            to: ReplyTo::Parent,
            response: Response::refused(error),
        });
        key
    }

    /// Whether a call is in flight.
    pub fn is_in_flight(&self, key: CallKey) -> bool {
        self.calls.contains_key(&key)
    }
}
