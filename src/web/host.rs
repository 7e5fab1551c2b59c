//! The host of a page.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};

use futures::channel::oneshot;
use js_sys::Function;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

use super::builder::{App, Capability};
use super::context::CallContext;
use super::executor::Running;
use super::{Error, HostHandle, JsHost, sys};
use crate::call::{Code, Response};
use crate::capability::Descriptor;
use crate::dialect::Value;
use crate::session::{HostState, Limits};

pub(super) type Outcome = Result<JsValue, Error>;
pub(super) type LocalFuture = Pin<Box<dyn Future<Output = Outcome>>>;

/// What runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(Function),
    Rust(Rc<dyn Fn(JsValue, CallContext) -> LocalFuture>),
}

pub(super) type State = HostState<JsValue, Handler>;

pub(super) struct Inner {
    pub id: u32,
    pub state: RefCell<State>,
    pub js: JsHost,
    pub app: JsValue,
    pub tasks: RefCell<HashMap<u32, Rc<Running>>>,
    pub controllers: RefCell<HashMap<u32, web_sys::AbortController>>,
    pub waiting: RefCell<HashMap<u32, oneshot::Sender<Response<JsValue>>>>,
    pub armed: Cell<f64>,
}

thread_local! {
    static HOSTS: RefCell<HashMap<u32, Weak<Inner>>> = RefCell::default();
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

pub(super) fn find(id: u32) -> Option<Rc<Inner>> {
    HOSTS.with_borrow(|hosts| hosts.get(&id).and_then(Weak::upgrade))
}

/// A page's host: capabilities registered by Rust, reached over every transport of the browser.
///
/// Cheap to clone; all clones are one host, which lives until [`Host::close`] or the page's end.
#[derive(Clone)]
pub struct Host(pub(super) Rc<Inner>);

impl Host {
    /// A host with the default [`Limits`].
    pub fn new(app: App) -> Result<Self, Error> {
        Host::with_limits(app, Limits::default())
    }

    /// A host with limits of the app's own.
    pub fn with_limits(app: App, limits: Limits) -> Result<Self, Error> {
        let app = app.0;
        for field in ["id", "name", "version"] {
            let text = Value::get(&app, field).and_then(|it| it.as_text());
            if text.is_none_or(|text| text.is_empty() || text.len() > 256) {
                return Err(Error::invalid_params(format!(
                    "app.{field} is a string of 1 to 256 characters"
                )));
            }
        }
        let id = NEXT.get();
        NEXT.set(id.wrapping_add(1));
        let inner = Rc::new_cyclic(|inner: &Weak<Inner>| Inner {
            id,
            state: RefCell::new(State::new(limits)),
            js: JsHost::new(HostHandle(inner.clone()), &app),
            app,
            tasks: RefCell::default(),
            controllers: RefCell::default(),
            waiting: RefCell::default(),
            armed: Cell::new(f64::INFINITY),
        });
        HOSTS.with_borrow_mut(|hosts| hosts.insert(id, Rc::downgrade(&inner)));
        // JavaScript holds the host by a weak handle; this keeps it alive until it is closed.
        KEPT.with_borrow_mut(|kept| kept.insert(id, inner.clone()));
        Ok(Host(inner))
    }

    /// Registers an async function as a capability. Its parameters come from the caller through
    /// serde, after the input schema has been checked; its data goes back the same way. An error
    /// keeps its code; [`Error::cancelled`] says that it stopped by itself.
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`] when the name is taken or the description makes no sense.
    pub fn register<P, T, F>(
        &self,
        capability: Capability,
        handler: impl Fn(P, CallContext) -> F + 'static,
    ) -> Result<(), Error>
    where
        P: DeserializeOwned,
        T: Serialize,
        F: Future<Output = Result<T, Error>> + 'static,
    {
        let run = move |params: JsValue, context: CallContext| -> LocalFuture {
            let future = serde_wasm_bindgen::from_value::<P>(params)
                .map(|params| handler(params, context))
                .map_err(|error| Error::invalid_params(error.to_string()));
            Box::pin(async move {
                let data = future?.await?;
                let serializer = serde_wasm_bindgen::Serializer::json_compatible();
                data.serialize(&serializer)
                    .map_err(|error| Error::new(Code::OPERATION_FAILED, error.to_string()))
            })
        };
        let name = capability.name.clone();
        let options = capability.into_options()?;
        self.0.register(&name, &options, Handler::Rust(Rc::new(run)))
    }

    /// Takes a capability away; calls accepted before still run. False when there is none.
    pub fn unregister(&self, name: &str) -> bool {
        self.0.with(|state| state.unregister(name))
    }

    /// Puts `window.abp` on the page, or on another object.
    pub fn expose(&self, target: &JsValue) {
        self.0.js.expose(target);
    }

    /// Serves agents that post messages to this window, from these origins; the page's own when
    /// none is given.
    pub fn accept_messages(&self, allowed_origins: &[&str]) {
        let origins = allowed_origins.iter().map(|it| JsValue::from_str(it));
        let origins: js_sys::Array = origins.collect();
        let options = match origins.length() {
            0 => JsValue::object(&[]),
            _ => JsValue::object(&[("allowedOrigins", origins.into())]),
        };
        self.0.js.accept_messages(&options);
    }

    /// Serves one agent over a `MessagePort`, a `Worker`, or an extension's port.
    pub fn accept_port(&self, port: &JsValue) {
        self.0.js.accept_port(port);
    }

    /// Connects to a gateway, and again whenever the connection is lost.
    pub fn connect_gateway(&self, url: &str, token: Option<&str>) {
        let token = token.map(|token| ("token", token.into()));
        let options = JsValue::object(&token.into_iter().collect::<Vec<_>>());
        self.0.js.connect_gateway(url, &options);
    }

    /// The ABP manifest of what is registered.
    pub fn manifest(&self) -> JsValue {
        self.0.js.manifest()
    }

    /// Ends every session; calls in flight are cancelled and answered.
    pub fn close(&self) {
        self.0.js.close();
    }

    /// The host as JavaScript sees it.
    pub fn as_js(&self) -> JsValue {
        self.0.js.clone().unchecked_into()
    }
}

thread_local! {
    static KEPT: RefCell<HashMap<u32, Rc<Inner>>> = RefCell::default();
}

impl Inner {
    /// Works on the state, then does what follows from it.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let result = work(&mut self.state.borrow_mut());
        self.drive();
        result
    }

    pub fn register(&self, name: &str, options: &JsValue, handler: Handler) -> Result<(), Error> {
        let descriptor = descriptor(name, options)?;
        if self.with(|state| state.register(descriptor, handler)) {
            Ok(())
        } else {
            Err(Error::invalid_params(format!("{name:?} is registered already")))
        }
    }

    /// Lets go of the host.
    pub fn release(&self) {
        let kept = KEPT.with_borrow_mut(|kept| kept.remove(&self.id));
        HOSTS.with_borrow_mut(|hosts| hosts.remove(&self.id));
        drop(kept);
    }
}

fn descriptor(name: &str, options: &JsValue) -> Result<Descriptor<JsValue>, Error> {
    if name.is_empty() || name.len() > 256 {
        return Err(Error::invalid_params("A capability's name has 1 to 256 characters"));
    }
    if !Value::is_object(options) {
        return Err(Error::invalid_params(format!("{name}: the description is an object")));
    }
    let concurrency = match Value::get(options, "concurrency") {
        None => None,
        Some(given) => {
            let whole = given.as_f64().filter(|n| n.fract() == 0.0 && (1.0..=1e9).contains(n));
            let whole = whole.ok_or_else(|| {
                Error::invalid_params(format!("{name}: concurrency is a whole number from 1"))
            })?;
            Some(whole as usize)
        }
    };
    for schema in ["inputSchema", "outputSchema"] {
        let given = Value::get(options, schema);
        if given.is_some_and(|it| !Value::is_object(&it) && it.as_bool().is_none()) {
            return Err(Error::invalid_params(format!("{name}: {schema} is a JSON Schema")));
        }
    }
    let or = |key: &'static str, default: JsValue| {
        (key, Value::get(options, key).unwrap_or(default))
    };
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
    for key in ["experimental", "deprecated", "deprecationMessage", "alternatives"] {
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

pub(super) fn now() -> f64 {
    sys::now()
}
