//! The functions of a host that its JavaScript glue calls.

use wasm_bindgen::prelude::*;

use super::descriptor::descriptor;
use super::inner::{HOSTS, Handler, Inner};
use super::numbers;
use super::perform::{Work, array};
use super::requests::{IDS, question, request, shortened, timeout_of};
use super::sys::now;
use crate::call::{CallId, Code, Millis, Stop};
use crate::offers::{Ending, near};
use crate::session::Limits;
use crate::web::ids::Batch;
use crate::web::{Failure, failure, object};

/// A host, from JavaScript's side. Every function may be called from within another.
///
/// A class of functions that take the number of the host. Private: an app in Rust decides itself
/// which exports its module has.
#[wasm_bindgen(private, skip_typescript)]
#[derive(Debug)]
pub struct HostHandle;

impl HostHandle {
    /// The class as JavaScript has it.
    pub fn class() -> JsValue {
        object::class_of(HostHandle)
    }
}

#[wasm_bindgen]
impl HostHandle {
    /// Makes a host, and returns its JavaScript object, which uses this class of functions. The
    /// app's description and the limits have been checked; a limit that is NaN has its default.
    #[allow(clippy::too_many_arguments)]
    pub fn make(
        class: &JsValue,
        app: &JsValue,
        remembered: f64,
        in_flight: f64,
        in_flight_bytes: f64,
        sessions: f64,
        requests_per_second: f64,
        message_bytes: f64,
        depth: f64,
    ) -> JsValue {
        let or = |given: f64, default: f64| if given.is_nan() { default } else { given };
        let it = Limits::default();
        let limits = Limits {
            remembered: or(remembered, it.remembered as f64) as usize,
            in_flight: or(in_flight, it.in_flight as f64) as usize,
            in_flight_bytes: or(in_flight_bytes, it.in_flight_bytes as f64) as usize,
            sessions: or(sessions, it.sessions as f64) as usize,
            requests_per_second: or(requests_per_second, it.requests_per_second),
            message_bytes: or(message_bytes, it.message_bytes as f64) as usize,
            depth: or(depth, it.depth as f64) as usize,
            ..it
        };
        let host = HOSTS.get(Inner::make(class, app, limits));
        host.map_or(JsValue::UNDEFINED, |host| host.js.clone().into())
    }

    /// False if the name is taken. Reads only the options that agents do not see.
    /// A handler that is told to stop has `grace` milliseconds to end, unless the options set
    /// another grace. `proof` is how long the host waits for the proof that a handler was ended
    /// from outside; NaN if no handler can be ended so.
    pub fn register(
        host: u32,
        name: &str,
        options: &JsValue,
        grace: Millis,
        proof: Millis,
        document: JsValue,
        handler: JsValue,
    ) -> bool {
        Work::of(host).is_some_and(|host| {
            let ending = match proof.is_nan() {
                true => Ending::Told { grace },
                false => Ending::Forced { grace, proof },
            };
            let descriptor = descriptor(name, options, document, ending);
            host.state().register(descriptor, Handler::Js(handler))
        })
    }

    /// Whether there was a capability of that name. Calls that were accepted before still run.
    pub fn unregister(host: u32, name: &str) -> bool {
        Work::of(host).is_some_and(|host| host.state().unregister(name))
    }

    /// An array of the `Capability` documents that the agent of a connection can see, by name. The
    /// connection 0 sees all of them.
    pub fn documents(host: u32, connection: u32) -> JsValue {
        let host = HOSTS.get(host);
        let documents = host.map(|host| host.state.borrow().documents(connection));
        array(&documents.unwrap_or_default())
    }

    /// The names, of an array of names, that `name` may stand for, the nearest first.
    pub fn near(name: &str, names: &JsValue) -> JsValue {
        let names = object::elements(names);
        let near = near(name, &mut names.iter().map(String::as_str));
        object::texts_of(&near)
    }

    /// Makes the next ids of calls. Returns their texts, one after the other.
    pub fn ids() -> JsValue {
        IDS.with(Batch::next)
    }

    /// A handler calls another capability. The id of the call is the given text, or else the one at
    /// that place of the last [`HostHandle::ids`]. Returns the key of the answer, or 0 if `call` is
    /// not a valid callId or the host is closed.
    #[allow(clippy::too_many_arguments)]
    #[wasm_bindgen(js_name = callFrom)]
    pub fn call_from(
        host: u32,
        parent: u32,
        call: &str,
        place: u32,
        capability: String,
        given: JsValue,
        timeout: f64,
        token: JsValue,
    ) -> u32 {
        let request = request((call, place), capability, given, timeout, token);
        match (request, HOSTS.get(host)) {
            (Some(request), Some(host)) => {
                host.state.borrow_mut().call_from(parent, request, now())
            }
            _ => 0,
        }
    }

    /// Starts the handlers whose turn has come.
    #[wasm_bindgen(js_name = runReady)]
    pub fn run_ready(host: u32) {
        if let Some(host) = Work::of(host) {
            host.state().run_ready();
        }
    }

    /// The timer has fired, for the earliest deadline or a little before it.
    pub fn tick(host: u32) {
        if let Some(host) = Work::of(host) {
            host.0.armed.set(f64::INFINITY);
            host.state().handle_timeout(now());
        }
    }

    /// The job in which a handler ran was ended from outside. The waiting microtasks and the
    /// actions that waited for the end of a poll are lost with it. `cancelled` is the id of the
    /// call for which the job was ended: the handler's own call, or a call that made it.
    pub fn terminated(host: u32, key: u32, cancelled: &str) {
        if let Some(host) = Work::of(host) {
            host.0.rust_calls.lost(key);
            host.0.dropping.set(0);
            host.0.loops.set(0);
            let reason = "The job of the call was ended".into();
            host.state().terminated(key, cancelled, &reason, now());
        }
    }

    /// Polls a Rust capability's future.
    pub fn poll(host: u32, key: u32) {
        if let Some(host) = HOSTS.get(host) {
            host.rust_calls.poll(key);
        }
    }

    /// A JavaScript handler has returned; `told` says that it has read its signal.
    pub fn settle(host: u32, key: u32, data: JsValue, told: bool) {
        if let Some(host) = Work::of(host) {
            host.state().settle(key, Ok(data), told, now());
        }
    }

    /// A JavaScript handler has returned data that cannot be sent; `told` says that it has read its
    /// signal.
    pub fn unfit(host: u32, key: u32, problem: String, told: bool) {
        if let Some(host) = Work::of(host) {
            let error = Failure::new(Code::OPERATION_FAILED, problem);
            host.state().settle_unfit(key, error, told, now());
        }
    }

    /// A JavaScript handler that was told to stop has rejected. It has ended, whatever its error
    /// says.
    pub fn rejected(host: u32, key: u32) {
        if let Some(host) = Work::of(host) {
            host.state()
                .settle(key, Err(Failure::cancelled()), true, now());
        }
    }

    /// A step of the stop has reached a handler in a worker: [`numbers::step`].
    pub fn reached(host: u32, key: u32, step: u32) {
        if let Some(host) = Work::of(host) {
            host.state().reached(key, numbers::step(step));
        }
    }

    /// A handler in a worker was seen to stop: [`numbers::stop`].
    pub fn stopped(host: u32, key: u32, stop: u32) {
        if let (Some(host), Some(stop)) = (Work::of(host), numbers::stop(stop)) {
            host.state().stopped(key, stop, now());
        }
    }

    /// The handler of a call runs at a peer, and has stopped there. `seen` is the peer's word for
    /// how far it has seen the stop, if it has said so.
    #[wasm_bindgen(js_name = stoppedAtPeer)]
    pub fn stopped_at_peer(host: u32, key: u32, seen: Option<String>) {
        if let Some(host) = Work::of(host) {
            let stop = Stop::of_peer(seen.as_deref());
            host.state().stopped_at_peer(key, stop, now());
        }
    }

    /// A call's parameters have passed the schema check.
    pub fn checked(host: u32, key: u32) {
        if let Some(host) = Work::of(host) {
            host.state().checked(key, Ok(()), now());
        }
    }

    /// The parameters of a call failed the check (if `checking` is set), or its handler has failed.
    pub fn fail(host: u32, key: u32, checking: bool, error: &JsValue) {
        let error = failure::read(error);
        if let Some(host) = Work::of(host) {
            let mut state = host.state();
            if checking {
                state.checked(key, Err(error), now());
            } else {
                // A handler that rejects has ended, whether it was told to stop or not.
                state.settle(key, Err(error), true, now());
            }
        }
    }

    /// An interface of the app begins to show the calls that wait for consent (`on`), or ends.
    #[wasm_bindgen(js_name = showConsents)]
    pub fn show_consents(host: u32, on: bool) {
        if let Some(host) = Work::of(host) {
            host.state().show_consents(on, now());
        }
    }

    /// A person has allowed (1) or denied (2) a call, or nobody could be asked (0). False if the
    /// call does not wait for that.
    pub fn consent(host: u32, key: u32, verdict: u32) -> bool {
        let allowed = (verdict > 0).then_some(verdict == 1);
        Work::of(host).is_some_and(|host| host.state().consent(key, allowed, now()))
    }

    /// A JavaScript handler reports the progress of its call.
    pub fn progress(host: u32, key: u32, info: JsValue) {
        if let Some(host) = Work::of(host) {
            host.state().progress(key, info, now());
        }
    }

    /// Progress that the app reports by the name of the operation: a progress token or a callId.
    #[wasm_bindgen(js_name = notifyProgress)]
    pub fn notify_progress(host: u32, operation: &JsValue, info: JsValue) {
        let name = operation.as_string();
        if let Some(host) = Work::of(host) {
            let is_meant = |id: &CallId, token: Option<&JsValue>| {
                token == Some(operation) || name.as_deref() == Some(id.as_str())
            };
            host.state().progress_of(info, is_meant, now());
        }
    }

    /// A handler cancels a call that it has made.
    #[wasm_bindgen(js_name = cancelKey)]
    pub fn cancel_key(host: u32, key: u32, reason: Option<String>) {
        if let Some(host) = Work::of(host) {
            host.state()
                .cancel_child(key, shortened(reason.as_deref()), now());
        }
    }

    /// A JavaScript handler asks the agent a question. Returns the key of the answer, or 0 if the
    /// host is closed.
    pub fn elicit(host: u32, call: u32, request: JsValue, timeout: f64) -> u32 {
        HOSTS.get(host).map_or(0, |host| {
            let mut state = host.state.borrow_mut();
            state.elicit(call, question(request, timeout_of(timeout)), now())
        })
    }

    /// The app asks the agent of a connection a question. Returns the key of the answer, or 0 if
    /// the host is closed.
    pub fn ask(host: u32, connection: u32, request: JsValue, timeout: f64) -> u32 {
        HOSTS.get(host).map_or(0, |host| {
            let mut state = host.state.borrow_mut();
            let question = question(request, timeout_of(timeout));
            state.ask(connection, None, question, now())
        })
    }

    /// Performs the actions that result from the last [`HostHandle::call_from`], `elicit` or `ask`.
    pub fn drive(host: u32) {
        drop(Work::of(host));
    }

    /// Sends an event of the app to every agent that accepts notifications.
    pub fn notify(host: u32, event: &str, data: JsValue) {
        if let Some(host) = Work::of(host) {
            host.state().notify(event.into(), Some(data));
        }
    }

    /// The app cancels a call of one of its agents, of any agent if there is no `session`. Returns
    /// the key of the answer, or 0 if the host is closed or has no such session.
    #[wasm_bindgen(js_name = cancelCall)]
    pub fn cancel_call(
        host: u32,
        session: Option<String>,
        given: &str,
        reason: Option<String>,
    ) -> u32 {
        let Some(host) = HOSTS.get(host) else {
            return 0;
        };
        let reason = shortened(reason.as_deref());
        let mut state = host.state.borrow_mut();
        let Some(session) = session else {
            return state.cancel_anywhere(given, reason, now());
        };
        let connection = state.connection_of(&session);
        connection.map_or(0, |connection| {
            state.cancel_here(connection, given, reason, now())
        })
    }

    /// Stops waiting for the handlers of a connection, or for all handlers if the connection is 0.
    /// The page or the host is going away.
    #[wasm_bindgen(js_name = giveUp)]
    pub fn give_up(host: u32, connection: u32) {
        if let Some(host) = Work::of(host) {
            let connection = (connection > 0).then_some(connection);
            host.state().give_up(connection, now());
        }
    }

    /// Sets whether anybody observes the steps of calls.
    pub fn watch(host: u32, on: bool) {
        if let Some(host) = HOSTS.get(host) {
            host.state.borrow_mut().watch(on);
        }
    }

    /// The numbers of held objects and the counters.
    pub fn stats(host: u32) -> JsValue {
        let stats = object::object();
        if let Some(host) = HOSTS.get(host) {
            let state = host.state.borrow();
            let counters = state.counters();
            for (name, count) in [
                ("inFlight", state.in_flight() as f64),
                ("sessions", state.sessions() as f64),
                ("elicitations", state.pending_elicitations() as f64),
                ("tasks", host.rust_calls.tasks() as f64),
                ("calls", counters.calls as f64),
                ("cancelled", counters.cancelled as f64),
                ("lateResults", counters.late_results as f64),
                ("lateProgress", counters.late_progress as f64),
                ("endedLate", counters.ended_late as f64),
            ] {
                object::put(&stats, name, count);
            }
        }
        stats
    }

    /// Releases the host. Every later call of these functions does nothing.
    pub fn release(host: u32) {
        HOSTS.remove(host);
    }
}
