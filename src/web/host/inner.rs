//! One host: its state, and the JavaScript objects that belong to it.

use std::cell::{Cell, RefCell};

use wasm_bindgen::JsValue;

use super::JsHost;
use super::executor::RustCalls;
use super::handle::HOSTS;
use super::sys::{Running, Shell, Timeline};
use crate::session::{HostState, Limits};

/// The code that runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(JsValue),
    Rust(super::executor::RustHandler),
}

pub(super) type State = HostState<JsValue, Handler>;

pub(super) struct Inner {
    pub state: RefCell<State>,
    /// The host object of an app in JavaScript.
    pub js: JsHost,
    /// Performs the actions of the core.
    pub shell: Shell,
    pub running: Running,
    pub timeline: Timeline,
    pub rust_calls: RustCalls,
    /// The time for which the shell was last asked to call back.
    pub armed: Cell<f64>,
    /// How many futures are being dropped, or will be dropped at the end of their current poll. The
    /// host sends nothing before all of them have been dropped.
    pub dropping: Cell<u32>,
    /// How many loops on the stack perform actions.
    pub loops: Cell<u32>,
}

impl Inner {
    /// Makes a host and returns its number. The host lives until the number is released. `class` is
    /// [`super::HostHandle`] in JavaScript. `app` is the app's description of itself, already
    /// checked.
    pub fn make(class: &JsValue, app: &JsValue, limits: Limits) -> u32 {
        let (depth, size) = (limits.depth as f64, limits.message_bytes as f64);
        HOSTS.add(|key| {
            let shell = Shell::new(class, key, app, depth, size);
            Inner {
                state: RefCell::new(State::new(limits)),
                js: JsHost::new(&shell),
                running: shell.running(),
                timeline: shell.timeline(),
                shell,
                rust_calls: RustCalls::new(key),
                armed: Cell::new(f64::INFINITY),
                dropping: Cell::new(0),
                loops: Cell::new(0),
            }
        })
    }

    /// Works on the state, then performs the resulting actions.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.state.borrow_mut());
        self.drive();
        result
    }
}
