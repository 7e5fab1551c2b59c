//! One host: its state, and the JavaScript object that belongs to it.

use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use js_sys::Function;
use wasm_bindgen::JsValue;

use super::executor::RustCalls;
use super::{Error, HostHandle, JsHost};
use crate::capability::Descriptor;
use crate::dialect::Value;
use crate::session::{HostState, Limits};

/// What runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(Function),
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
            let text = Value::get(&app, field).and_then(|it| it.as_text());
            if text.is_none_or(|text| text.is_empty() || text.len() > 256) {
                return Err(Error::invalid_params(format!(
                    "app.{field} is a string of 1 to 256 characters"
                )));
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
            Err(Error::invalid_params(format!(
                "{name:?} is registered already"
            )))
        }
    }

    /// Lets go of the host.
    pub fn release(&self) {
        let kept = self.kept.take();
        drop(kept);
    }
}

fn descriptor(name: &str, options: &JsValue) -> Result<Descriptor<JsValue>, Error> {
    if name.is_empty() || name.len() > 256 {
        return Err(Error::invalid_params(
            "A capability's name has 1 to 256 characters",
        ));
    }
    if !Value::is_object(options) {
        return Err(Error::invalid_params(format!(
            "{name}: the description is an object"
        )));
    }
    let concurrency = match Value::get(options, "concurrency") {
        None => None,
        Some(given) => {
            let whole = given
                .as_f64()
                .filter(|n| f64::from(*n as u32) == *n && (1.0..=1e9).contains(n));
            let whole = whole.ok_or_else(|| {
                Error::invalid_params(format!("{name}: concurrency is a whole number from 1"))
            })?;
            Some(whole as usize)
        }
    };
    for schema in ["inputSchema", "outputSchema"] {
        let given = Value::get(options, schema);
        if given.is_some_and(|it| !Value::is_object(&it) && it.as_bool().is_none()) {
            return Err(Error::invalid_params(format!(
                "{name}: {schema} is a JSON Schema"
            )));
        }
    }
    let or =
        |key: &'static str, default: JsValue| (key, Value::get(options, key).unwrap_or(default));
    let any = || JsValue::object(&[("type", "object".into())]);
    let available = Value::get(options, "available").and_then(|it| it.as_bool()) != Some(false);
    let mut fields = vec![
        ("name", name.into()),
        or("description", "".into()),
        or("inputSchema", any()),
        or("outputSchema", JsValue::object(&[])),
        ("available", available.into()),
        or("requirements", JsValue::array(Vec::new())),
        or("features", JsValue::object(&[])),
    ];
    for key in [
        "experimental",
        "deprecated",
        "deprecationMessage",
        "alternatives",
    ] {
        fields.extend(Value::get(options, key).map(|value| (key, value)));
    }
    Ok(Descriptor {
        name: name.into(),
        concurrency,
        available,
        checked: Value::get(options, "inputSchema").is_some(),
        document: JsValue::object(&fields),
    })
}
