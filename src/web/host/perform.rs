//! Performs the actions of the core.

use std::cell::RefMut;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::inner::{HOSTS, Handler, Inner, State};
use super::{numbers, sys};
use crate::call::{CallId, CancelAnswer, Outcome, Response};
use crate::dialect::events::CALL_ENDED;
use crate::session::{
    Action as CoreAction, Answer, Asked, CallEvent, CallState, Cancelled, ReplyTo,
};
use crate::web::failure::{error, or_nan};
use crate::web::object::{self, seen};

type Action = CoreAction<JsValue, Handler>;

/// The limit of nested loops. Each loop takes stack space, and each of thousands of calls may call
/// back.
const MOST_LOOPS: u32 = 8;

/// The connection number of a handler that asks, in place of an agent's connection.
const PARENT: u32 = 0;

/// A host during some work. Dropping it performs the resulting actions.
pub(super) struct Work(pub Rc<Inner>);

impl Work {
    pub fn of(host: u32) -> Option<Work> {
        HOSTS.get(host).map(Work)
    }

    pub fn state(&self) -> RefMut<'_, State> {
        self.0.state.borrow_mut()
    }
}

impl Drop for Work {
    #[inline(never)]
    fn drop(&mut self) {
        self.0.drive();
    }
}

impl Inner {
    /// Works on the state, then performs the resulting actions.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.state.borrow_mut());
        self.drive();
        result
    }

    /// Performs all actions in order, with no borrow held, as an action may call back. The
    /// consequences of a callback are performed before the host returns to the callback: for
    /// example, a cancel fires the signal. But no handler starts on the stack of another handler.
    /// If many callbacks are nested, the loops that already run serve them.
    pub fn drive(&self) {
        let outer = self.loops.get();
        if outer == MOST_LOOPS {
            return;
        }
        self.loops.set(outer + 1);
        while self.dropping.get() == 0 {
            let mut state = self.state.borrow_mut();
            let action = match outer {
                0 => state.poll_action(),
                _ => state.poll_consequence(),
            };
            drop(state);
            match action {
                Some(action) => self.perform(action),
                None => {
                    self.arm();
                    break;
                }
            }
        }
        self.loops.set(outer);
    }

    /// Arms the one timer for the earliest deadline.
    fn arm(&self) {
        let next = self.state.borrow_mut().next_deadline();
        let next = next.unwrap_or(f64::INFINITY);
        if next != self.armed.replace(next) {
            self.shell.arm(next);
        }
    }

    fn perform(&self, action: Action) {
        let shell = &self.shell;
        match action {
            Action::Wake => shell.wake(),
            Action::Check {
                key,
                capability,
                params,
            } => shell.check(key, &capability, &params),
            Action::Start {
                key,
                id,
                handler,
                params,
                ..
            } => match handler {
                Handler::Js(handler) => self.running.start(key, &handler, &params),
                Handler::Rust(handler) => {
                    handler(&self.rust_calls, key, id, params);
                }
            },
            Action::Stop { key, reason } => {
                self.dropping.update(|count| count + 1);
                if self.rust_calls.stop(key, reason.as_deref()) {
                    self.dropping.update(|count| count - 1);
                }
                self.running.stop(key, reason.as_deref());
            }
            Action::Terminate { key } => self.running.terminate(key),
            Action::Respond { key, to, response } => {
                let cancelled = matches!(response.outcome, Outcome::Cancelled(_));
                self.rust_calls.ended(key, cancelled);
                match to {
                    ReplyTo::Agent(to, id) => self.respond(key, to, &or_undefined(id), response),
                    ReplyTo::Parent => self.hand_over(key, response),
                    ReplyTo::Nobody => self.running.forget(key),
                }
            }
            Action::Elicited { key, response } => self.hand_over(key, response),
            Action::Answer { to, id, answer } => self.answer(to, &or_undefined(id), answer),
            Action::Confirm { key, answer } => {
                let answer = cancel_response(&JsValue::UNDEFINED, answer);
                shell.asks().settle(key, &answer);
            }
            Action::CallEnded { to, id, end } => {
                let data = sys::call_ended(id.as_str(), end.success, end.after);
                shell.tell(to, CALL_ENDED, &data);
            }
            Action::EndedLate { session, id, end } => {
                let end = sys::late_end(end.success, end.after);
                self.timeline.ended(&named(&session, &id), &end);
            }
            Action::Progress {
                to,
                id,
                token,
                info,
            } => shell.tell_progress(to, id.as_str(), &or_undefined(token), &info),
            Action::Elicit { to, key, request } => shell.question(to, key, &request),
            Action::Withdraw { to, key } => shell.withdraw(to, key),
            Action::Notify { to, event, data } => shell.tell(to, &event, &or_undefined(data)),
            Action::Lost { agent } => shell.lose(agent),
            Action::CapabilitiesChanged { to, changes } => {
                let [added, removed, changed] =
                    [&changes.added, &changes.removed, &changes.changed]
                        .map(|it| object::texts_of(it));
                shell.tell_change(to, &added, &removed, &changed);
            }
            Action::Call(event) => self.saw_call(event),
            Action::Progressed { session, id, info } => {
                self.timeline.progress(&named(&session, &id), &info);
            }
            Action::Cancelling {
                session,
                id,
                reason,
            } => {
                let call = named(&session, &id);
                self.timeline.cancelling(&call, reason.as_deref());
            }
            Action::CancelAnswered {
                session,
                id,
                answer,
                reason,
            } => {
                let given = JsValue::from_str(id.as_str());
                let answer = cancel_response(&given, Ok(answer));
                let call = named(&session, &id);
                self.timeline.cancel(&call, &answer, reason.as_deref());
            }
            Action::Session {
                session,
                agent,
                open,
            } => self
                .timeline
                .session(&session, open, &agent.name, &agent.version),
        }
    }

    fn respond(&self, key: u32, to: u32, id: &JsValue, response: Response<JsValue>) {
        let duration = or_nan(response.duration);
        let (state, value) = told(response);
        self.shell.respond(key, to, id, state, &value, duration);
    }

    /// Gives a response to the handler that waits for it, in Rust or in JavaScript.
    fn hand_over(&self, key: u32, response: Response<JsValue>) {
        match self.rust_calls.hand_over(key, response) {
            Some(response) => self.respond(key, PARENT, &JsValue::UNDEFINED, response),
            None => self.running.forget(key),
        }
    }

    fn answer(&self, to: u32, id: &JsValue, answer: Answer<JsValue>) {
        match answer {
            Answer::Initialized(Ok(opened)) => {
                let documents = array(&opened.capabilities);
                let it = opened.features;
                let features = object::object();
                object::put(&features, "notifications", it.notifications);
                object::put(&features, "progress", it.progress);
                object::put(&features, "elicitation", it.elicitation);
                self.shell
                    .initialized(to, id, &opened.session, &documents, &features);
            }
            Answer::Initialized(Err(failure)) => {
                self.shell
                    .done(to, "initialize-result", id, &error(&failure));
            }
            Answer::Cancelled(given, result) => {
                self.shell
                    .cancelled(to, id, &cancel_response(&given, result));
            }
            Answer::ShutDown(result) => {
                let failure = result.map_or_else(|it| error(&it), |()| JsValue::UNDEFINED);
                self.shell.done(to, "shutdown-result", id, &failure);
            }
        }
    }

    fn saw_call(&self, event: CallEvent<JsValue>) {
        let call = named(&event.session, &event.id);
        object::put(&call, "capability", &*event.capability);
        if let Some(parent) = &event.parent {
            object::put(&call, "parentCallId", parent.as_str());
        }
        match event.state {
            CallState::Queued(given) => self.timeline.queued(&call, &given),
            CallState::Consent(key, asked, given) => {
                let asked = match asked {
                    None => 0,
                    Some(Asked::App) => 1,
                    Some(Asked::Agent) => 2,
                };
                self.shell.consent(key, &call, &given, asked);
            }
            CallState::Running => self.timeline.running(&call),
            CallState::Ended(response, reason) => {
                let duration = or_nan(response.duration);
                let (state, value) = told(response);
                self.timeline
                    .over(&call, state, &value, duration, reason.as_deref());
            }
        }
    }
}

/// The names of a call on the timeline.
fn named(session: &str, id: &CallId) -> JsValue {
    let call = object::object();
    object::put(&call, "callId", id.as_str());
    object::put(&call, "sessionId", session);
    call
}

/// How a call ended, and its data, its error, or how far it was seen to stop.
fn told(response: Response<JsValue>) -> (u32, JsValue) {
    let state = numbers::state(&response.outcome);
    let value = match response.outcome {
        Outcome::Completed(data) => data,
        Outcome::Failed(failure) => error(&failure),
        Outcome::Cancelled(stop) => seen(stop, response.by),
    };
    (state, value)
}

/// A `CancelResponse`. `given` is the callId exactly as the request had it.
fn cancel_response(given: &JsValue, answer: Cancelled<JsValue>) -> JsValue {
    match answer {
        Ok(CancelAnswer::Cancelled { stop, ended, by }) => {
            let ended = ended.map(|end| sys::late_end(end.success, end.after));
            sys::cancel_confirmation(given, &seen(stop, by), &or_undefined(ended))
        }
        Ok(answer) => sys::cancel_response(given, answer.reason(), &JsValue::UNDEFINED),
        Err(failure) => sys::cancel_response(given, None, &error(&failure)),
    }
}

fn or_undefined(value: Option<JsValue>) -> JsValue {
    value.unwrap_or(JsValue::UNDEFINED)
}

pub(super) fn array(elements: &[JsValue]) -> JsValue {
    let array = sys::array();
    for element in elements {
        sys::push(&array, element);
    }
    array
}
