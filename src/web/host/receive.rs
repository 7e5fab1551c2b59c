//! The functions through which a host's JavaScript glue passes on the messages of agents.

use wasm_bindgen::prelude::*;

use super::handle::HostHandle;
use super::inner::HOSTS;
use super::perform::Work;
use super::requests::{request, shortened};
use super::sys::now;
use crate::call::CallId;
use crate::session::{Agent, Features, Initialize, Names, Party, Scope};
use crate::web::{failure, ids, object};

#[wasm_bindgen]
#[allow(clippy::too_many_arguments)]
impl HostHandle {
    /// Opens the connection of an agent and returns its number, or 0 if the host is closed. The
    /// connection comes from a window of an origin. If `window` is 0, it comes over the link
    /// `origin`. If both are 0, it has no such source.
    pub fn connect(host: u32, origin: u32, window: u32) -> u32 {
        let party = match (origin, window) {
            (0, _) => Party::Alone,
            (link, 0) => Party::Link(link),
            _ => Party::Window { origin, window },
        };
        Work::of(host).map_or(0, |host| host.state().connect_from(party))
    }

    /// Reports that the connection is gone, and with it the session of its agent.
    pub fn disconnect(host: u32, connection: u32, reason: &str) {
        if let Some(host) = Work::of(host) {
            host.state().part(connection, reason, now());
        }
    }

    /// The agent has announced that it answers when it is asked for a sign of life. An infinite
    /// `liveness` means that nobody asks.
    #[wasm_bindgen(js_name = watchLife)]
    pub fn watch_life(host: u32, connection: u32, liveness: f64) {
        if let Some(host) = Work::of(host) {
            host.state().watch_life(connection, liveness);
        }
    }

    /// The agent need not be asked.
    #[wasm_bindgen(js_name = unwatchLife)]
    pub fn unwatch_life(host: u32, connection: u32) {
        if let Some(host) = Work::of(host) {
            host.state().unwatch_life(connection);
        }
    }

    /// Reports a message of an agent for which there is no other function.
    pub fn heard(host: u32, connection: u32) {
        if let Some(host) = Work::of(host) {
            host.state().heard(connection, now());
        }
    }

    /// The id of the session on that connection; null if there is none.
    #[wasm_bindgen(js_name = sessionId)]
    pub fn session_id(host: u32, connection: u32) -> JsValue {
        let host = HOSTS.get(host);
        let id = host.and_then(|host| host.state.borrow().session_id(connection));
        id.map_or(JsValue::NULL, |id| JsValue::from_str(&id))
    }

    /// An agent opens its session. `params` has been checked.
    pub fn initialize(host: u32, connection: u32, id: JsValue, params: &JsValue) {
        let text = |key| object::get(params, key).as_string().unwrap_or_default();
        let feature = |key| object::get(params, key) == true;
        let names = |key| object::texts(params, key).map(Names);
        let params = Initialize {
            agent: Agent {
                name: text("name"),
                version: text("version"),
            },
            features: Features {
                notifications: feature("notifications"),
                progress: feature("progress"),
                elicitation: feature("elicitation"),
            },
            scope: Scope {
                capabilities: names("capabilities"),
                requests: names("requests"),
            },
        };
        if let Some(host) = Work::of(host) {
            let session = ids::random();
            host.state()
                .initialize(connection, Some(id), params, session.as_str().into(), now());
        }
    }

    /// An agent calls. The id of the call is the given text, or else the one at that place of the
    /// last [`HostHandle::ids`]. `alone` says that the call came in a job of its own, `aborted` that
    /// its signal had fired before it was made, with that reason. True if `call` is not a valid callId; the
    /// call is then ignored.
    pub fn call(
        host: u32,
        connection: u32,
        id: JsValue,
        call: &str,
        place: u32,
        capability: String,
        given: JsValue,
        timeout: f64,
        token: JsValue,
        bytes: f64,
        alone: bool,
        aborted: bool,
        reason: Option<String>,
    ) -> bool {
        let Some(mut request) = request((call, place), capability, given, timeout, token) else {
            return true;
        };
        request.bytes = bytes as usize;
        if let Some(host) = Work::of(host) {
            let mut state = host.state();
            let now = now();
            if alone && !aborted {
                state.call_at_once(connection, Some(id), request, now);
            } else {
                let key = state.call(connection, Some(id), request, now);
                if aborted {
                    state.cancel_child(key, shortened(reason.as_deref()), now);
                }
            }
        }
        false
    }

    /// An agent cancels. True if the callId is not valid; the cancel is then ignored.
    pub fn cancel(
        host: u32,
        connection: u32,
        id: JsValue,
        given: JsValue,
        reason: Option<String>,
    ) -> bool {
        let call = given.as_string().unwrap_or_default();
        if CallId::parse(&call).is_err() {
            return true;
        }
        if let Some(host) = Work::of(host) {
            let reason = shortened(reason.as_deref());
            host.state()
                .cancel(connection, Some(id), given, &call, reason, now());
        }
        false
    }

    /// An agent ends its session.
    pub fn shutdown(host: u32, connection: u32, id: JsValue, reason: Option<String>) {
        if let Some(host) = Work::of(host) {
            host.state()
                .shutdown(connection, Some(id), shortened(reason.as_deref()), now());
        }
    }

    /// An agent has answered a question with an error.
    pub fn unanswered(host: u32, connection: u32, key: u32, error: &JsValue) {
        let error = failure::read(error);
        if let Some(host) = Work::of(host) {
            let mut state = host.state();
            state.heard(connection, now());
            state.answered(connection, key, Err(error));
        }
    }

    /// An agent has answered a question.
    pub fn answered(host: u32, connection: u32, key: u32, data: JsValue) {
        if let Some(host) = Work::of(host) {
            let mut state = host.state();
            state.heard(connection, now());
            state.answered(connection, key, Ok(data));
        }
    }
}
