//! Calls from acceptance to their end.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::state::{Call, DeadlineOf, Phase, not_initialized};
use super::{Action, Answer, CallState, ConnectionId, HostState, ReplyTo, Stop};
use crate::call::{
    CallId, CallKey, CancelAnswer, Code, End, Error, Millis, Outcome, Response, Standing,
};

/// A well-formed call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest<P> {
    /// The agent's id for it, or one the shell has just made.
    pub id: CallId,
    /// What is called.
    pub capability: String,
    /// What the handler gets.
    pub params: P,
    /// Milliseconds until the call is cancelled by the host.
    pub timeout: Option<Millis>,
    /// Comes back in progress.
    pub token: Option<P>,
}

/// What a cancel answers: an error when there is no session.
pub type Cancelled<P> = Result<CancelAnswer, Error<P>>;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// An agent calls. A call that is refused is answered at once and not remembered.
    pub fn call(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        request: CallRequest<P>,
        now: Millis,
    ) {
        let to = ReplyTo::Agent(connection, id);
        self.enter(connection, to, None, request, now);
    }

    /// A running capability calls another one. Answered with [`Action::Respond`] to
    /// [`ReplyTo::Parent`] under the key returned.
    pub fn call_from(&mut self, parent: CallKey, request: CallRequest<P>, now: Millis) -> CallKey {
        let Some(connection) = self.calls.get(parent).map(|call| call.connection) else {
            let key = self.next_key();
            let outcome = Outcome::Cancelled;
            self.actions.push(Action::Respond {
                key,
                to: ReplyTo::Parent,
                response: Response {
                    outcome,
                    duration: None,
                },
            });
            return key;
        };
        self.enter(connection, ReplyTo::Parent, Some(parent), request, now)
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
        let accepted = self.accept(connection, reply.clone(), parent, request, key, now);
        if let Err(error) = accepted {
            self.actions.push(Action::Respond {
                key,
                to: reply,
                response: Response::refused(error),
            });
        }
        key
    }

    fn accept(
        &mut self,
        connection: ConnectionId,
        reply: ReplyTo<P>,
        parent: Option<CallKey>,
        request: CallRequest<P>,
        key: CallKey,
        now: Millis,
    ) -> Result<(), Error<P>> {
        let limits = self.limits;
        let session = self.session_mut(connection).ok_or_else(not_initialized)?;
        if let Err(wait) = session.rate.take(&limits, now) {
            let mut error = Error::new(Code::RATE_LIMITED, "Too many requests");
            error.retry_after = Some(wait);
            return Err(error);
        }
        if session.ledger.standing(request.id.as_str()) != Standing::Unknown {
            let message = ["The callId \"", request.id.as_str(), "\" was used before"];
            return Err(Error::invalid_params(message.concat()));
        }
        if session.ledger.in_flight() >= limits.in_flight {
            return Err(Error::new(
                Code::RATE_LIMITED,
                "Too many calls are in flight",
            ));
        }
        let capability = self
            .registry
            .get(&request.capability)
            .cloned()
            .ok_or_else(|| {
                Error::new(
                    Code::UNKNOWN_CAPABILITY,
                    ["There is no capability \"", &request.capability, "\""].concat(),
                )
            })?;
        let descriptor = &capability.descriptor;
        if !descriptor.available {
            return Err(Error::new(
                Code::CAPABILITY_UNAVAILABLE,
                ["\"", &request.capability, "\" is not available right now"].concat(),
            ));
        }
        let checked = descriptor.checked;
        let name = descriptor.name.clone();
        if let Some(session) = self.session_mut(connection) {
            session.ledger.enter(request.id.clone(), key);
        }
        self.counters.calls += 1;
        if let Some(timeout) = request.timeout {
            self.deadlines.insert(now + timeout, DeadlineOf::Call(key));
        }
        if let Some(parent) = parent.and_then(|parent| self.calls.get_mut(parent)) {
            parent.children.push(key);
        }
        let params = request.params;
        let call = Call {
            id: request.id,
            connection,
            capability,
            phase: Phase::Checking,
            params: Some(params.clone()),
            accepted: now,
            reply,
            parent,
            children: Vec::new(),
            token: request.token,
            has_slot: false,
            has_deadline: request.timeout.is_some(),
            elicitations: Vec::new(),
        };
        self.calls.insert(key, call);
        self.watch_call(key, CallState::Queued(params.clone()));
        if checked {
            self.actions.push(Action::Check {
                key,
                capability: name,
                params,
            });
        } else {
            self.line_up(key);
        }
        Ok(())
    }

    /// The shell has checked a call's parameters.
    pub fn checked(&mut self, key: CallKey, result: Result<(), Error<P>>, now: Millis) {
        let Some(call) = self
            .calls
            .get(key)
            .filter(|call| call.phase == Phase::Checking)
        else {
            return;
        };
        debug_assert!(!call.has_slot);
        match result {
            Ok(()) => self.line_up(key),
            Err(error) => self.end(key, Outcome::Failed(error), None, now),
        }
    }

    fn line_up(&mut self, key: CallKey) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        // A capability that calls itself, however indirectly, runs within the slot its ancestor
        // holds; waiting for that slot would wait for ever.
        let within_ancestor = self.has_ancestor_of_same_capability(call);
        let got_slot = !within_ancestor && call.capability.slots.borrow_mut().enter(key);
        if let Some(call) = self.calls.get_mut(key) {
            call.has_slot = got_slot;
            call.phase = if got_slot || within_ancestor {
                Phase::Ready
            } else {
                Phase::Waiting
            };
            if call.phase == Phase::Ready {
                self.ready.push(key);
                self.wake();
            }
        }
    }

    /// Starts every call that has its turn, in order.
    pub fn run_ready(&mut self) {
        self.waking = false;
        while let Some(key) = self.ready.pop() {
            let Some(call) = self
                .calls
                .get_mut(key)
                .filter(|call| call.phase == Phase::Ready)
            else {
                continue;
            };
            call.phase = Phase::Running;
            let Some(params) = call.params.take() else {
                continue;
            };
            let (id, capability) = (call.id.clone(), call.capability.clone());
            self.watch_call(key, CallState::Running);
            self.actions.push(Action::Start {
                key,
                id,
                capability: capability.descriptor.name.clone(),
                handler: capability.handler.clone(),
                params,
            });
        }
    }

    /// A handler has ended. What comes after the end of its call is dropped and counted.
    pub fn settle(&mut self, key: CallKey, result: Result<P, Error<P>>, now: Millis) {
        if self
            .calls
            .get(key)
            .is_some_and(|call| call.phase == Phase::Running)
        {
            self.end(key, result.into(), None, now);
        } else {
            self.counters.late_results += 1;
        }
    }

    /// An agent cancels. The answer comes as an action, after those that stop the handlers and
    /// before those that answer the calls. `given` is the callId as it was written.
    pub fn cancel(
        &mut self,
        connection: ConnectionId,
        id: Option<P>,
        given: P,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) {
        let result = self.cancel_call(connection, call, reason, now);
        self.answer(connection, id, Answer::Cancelled(given, result));
        self.respond();
    }

    /// The app itself, or whoever watches it, cancels a call of any session.
    pub fn cancel_here(
        &mut self,
        connection: ConnectionId,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) -> Cancelled<P> {
        let result = self.cancel_call(connection, call, reason, now);
        self.respond();
        result
    }

    fn cancel_call(
        &mut self,
        connection: ConnectionId,
        call: &str,
        reason: Option<Rc<str>>,
        now: Millis,
    ) -> Cancelled<P> {
        let Some(session) = self.session(connection) else {
            return Err(not_initialized());
        };
        let session_id = session.id.clone();
        let answer = match session.ledger.standing(call) {
            Standing::InFlight(key) => {
                let reason = reason.clone();
                self.cancel_tree(key, &Stop { reason }, now);
                CancelAnswer::Cancelled
            }
            Standing::Ended(End::Cancelled) => CancelAnswer::Cancelled,
            Standing::Ended(_) => CancelAnswer::AlreadyCompleted,
            Standing::Unknown => CancelAnswer::NotFound,
        };
        // A cancel of no call of this session is nothing to watch, and agents ask for a sign of
        // life with one.
        if self.watched
            && answer != CancelAnswer::NotFound
            && let Ok(id) = CallId::parse(call)
        {
            self.actions.push(Action::CancelAnswered {
                session: session_id,
                id,
                answer,
                reason,
            });
        }
        Ok(answer)
    }

    /// Progress of a running call, as the handler wrote it.
    pub fn progress(&mut self, key: CallKey, info: P) {
        let Some(call) = self
            .calls
            .get(key)
            .filter(|call| call.phase == Phase::Running)
        else {
            self.counters.late_progress += 1;
            return;
        };
        let (to, id, token) = (call.connection, call.id.clone(), call.token.clone());
        if self
            .session(to)
            .is_some_and(|session| session.features.progress)
        {
            self.actions.push(Action::Progress {
                to,
                id: id.clone(),
                token,
                info: info.clone(),
            });
        }
        if let Some(session) = self.session_id(to).filter(|_| self.watched) {
            self.actions.push(Action::Progressed { session, id, info });
        }
    }

    /// Progress of the running calls that `is_meant` picks by callId and token.
    pub fn progress_of(&mut self, info: P, is_meant: impl Fn(&CallId, Option<&P>) -> bool) {
        let keys = self
            .calls
            .keys_where(|call| is_meant(&call.id, call.token.as_ref()));
        if keys.is_empty() {
            self.counters.late_progress += 1;
        }
        for key in keys {
            self.progress(key, info.clone());
        }
    }

    /// A child call that makes no sense: answered under the key returned.
    pub fn refuse_child(&mut self, error: Error<P>) -> CallKey {
        let key = self.next_key();
        self.actions.push(Action::Respond {
            key,
            to: ReplyTo::Parent,
            response: Response::refused(error),
        });
        key
    }

    /// A capability cancels a call it has made.
    pub fn cancel_child(&mut self, key: CallKey, reason: Option<Rc<str>>, now: Millis) {
        self.cancel_tree(key, &Stop { reason }, now);
        self.respond();
    }

    /// Whether a call is in flight.
    pub fn is_in_flight(&self, key: CallKey) -> bool {
        self.calls.contains(key)
    }
}
