//! One host: its state, and the JavaScript object that belongs to it.

use alloc::rc::{Rc, Weak};
use core::cell::{Cell, RefCell};

use wasm_bindgen::JsValue;

use super::executor::RustCalls;
use super::{Error, HostHandle, JsHost, sys};
use crate::capability::Descriptor;
use crate::dialect::Value;
use crate::dialect::shape::{BOOLEAN, MISSING, NUMBER, OBJECT};
use crate::session::{HostState, Limits};

/// What runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(JsValue),
    #[cfg(feature = "std")]
    Rust(super::executor::RustHandler),
}

pub(super) type State = HostState<JsValue, Handler>;

pub(super) struct Inner {
    pub state: RefCell<State>,
    pub js: JsHost,
    pub app: JsValue,
    pub rust_calls: RustCalls,
    /// When the timer of the JavaScript object fires.
    pub armed: Cell<f64>,
    /// JavaScript holds the host by a weak handle; this keeps it alive until it is closed.
    kept: RefCell<Option<Rc<Inner>>>,
}

impl Inner {
    /// `app` is the app's description of itself.
    pub fn new(app: JsValue, limits: Limits) -> Result<Rc<Self>, Error> {
        for field in ["id", "name", "version"] {
            let text = app.text_of(field).unwrap_or_default();
            if text.is_empty() || text.len() > 256 {
                let message = ["app.", field, " is a string of 1 to 256 characters"];
                return Err(Error::invalid_params(message.concat()));
            }
        }
        let inner = Rc::new_cyclic(|inner: &Weak<Inner>| Inner {
            state: RefCell::new(State::new(limits)),
            js: JsHost::new(HostHandle(inner.clone()), &app),
            app,
            rust_calls: RustCalls::new(inner),
            armed: Cell::new(f64::INFINITY),
            kept: RefCell::default(),
        });
        inner.kept.replace(Some(inner.clone()));
        Ok(inner)
    }

    /// Works on the state, then does what follows from it.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.state.borrow_mut());
        self.drive();
        result
    }

    pub fn register(&self, name: &str, options: &JsValue, handler: Handler) -> Result<(), Error> {
        let descriptor = descriptor(name, options)?;
        if self.with(|state| state.register(descriptor, handler)) {
            self.js.registered(name);
            Ok(())
        } else {
            let message = ["\"", name, "\" is registered already"];
            Err(Error::invalid_params(message.concat()))
        }
    }

    /// Lets go of the host.
    pub fn release(&self) {
        let kept = self.kept.take();
        drop(kept);
    }
}

/// What the properties of a description must be.
const DESCRIPTION: [(&str, u32, &str); 3] = [
    (
        "concurrency",
        MISSING | NUMBER,
        "concurrency is a whole number from 1",
    ),
    (
        "inputSchema",
        MISSING | OBJECT | BOOLEAN,
        "inputSchema is a JSON Schema",
    ),
    (
        "outputSchema",
        MISSING | OBJECT | BOOLEAN,
        "outputSchema is a JSON Schema",
    ),
];

fn descriptor(name: &str, options: &JsValue) -> Result<Descriptor<JsValue>, Error> {
    let bad = |rule: &str| Err(Error::invalid_params([name, ": ", rule].concat()));
    if name.is_empty() || name.len() > 256 {
        let message = "A capability's name has 1 to 256 characters";
        return Err(Error::invalid_params(message));
    }
    if !Value::is_object(options) {
        return bad("the description is an object");
    }
    for (key, shapes, rule) in DESCRIPTION {
        if options.shape(key) & shapes == 0 {
            return bad(rule);
        }
    }
    let concurrency = options.number_of("concurrency");
    if concurrency.is_some_and(|it| it < 1.0 || it > 1e9 || f64::from(it as u32) != it) {
        return bad("concurrency is a whole number from 1");
    }
    Ok(Descriptor {
        name: name.into(),
        concurrency: concurrency.map(|it| it as usize),
        available: options.boolean_of("available") != Some(false),
        checked: options.shape("inputSchema") != MISSING,
        document: sys::describe(name, options),
    })
}
