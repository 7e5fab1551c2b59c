//! One host: its state, and the JavaScript objects that belong to it.

use std::cell::{Cell, RefCell};

use wasm_bindgen::JsValue;

use super::JsHost;
use super::executor::RustCalls;
use super::handle::HOSTS;
use super::sys::{Running, Shell, Timeline};
use crate::session::{HostState, Limits};

/// What runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(JsValue),
    Rust(super::executor::RustHandler),
}

pub(super) type State = HostState<JsValue, Handler>;

pub(super) struct Inner {
    pub state: RefCell<State>,
    /// What an app in JavaScript has of it.
    pub js: JsHost,
    /// What does what the core asks for.
    pub shell: Shell,
    pub running: Running,
    pub timeline: Timeline,
    pub rust_calls: RustCalls,
    /// For when the shell was last asked to call back.
    pub armed: Cell<f64>,
    /// How many futures are being dropped, or are to be when the poll returns that they are in:
    /// nothing is said before all of them are.
    pub dropping: Cell<u32>,
    /// How many loops on the stack do what is to be done.
    pub loops: Cell<u32>,
}

impl Inner {
    /// `class` is [`super::HostHandle`] in JavaScript, and `app` the app's description of itself,
    /// which has been checked. Gives its number; it lives until that is released.
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

    /// Works on the state, then does what follows from it.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.state.borrow_mut());
        self.drive();
        result
    }
}
