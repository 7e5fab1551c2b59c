//! The host of a page, for an app in Rust.

use std::future::Future;
use std::rc::Rc;

use js_sys::Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};

use super::builder::{App, Capability};
use super::context::CallContext;
use super::executor::LocalFuture;
use super::handle::HOSTS;
use super::inner::{Handler, Inner};
use super::object::{self, get, object, put};
use super::{Error, HostHandle, perform, sys};
use crate::call::{Code, Millis};
use crate::capability::Ending;
use crate::session::Limits;

/// A page's host: capabilities registered by Rust, reached over every transport of the browser.
///
/// Cheap to clone; all clones are one host, which lives until [`Host::close`] or the page's end.
#[derive(Clone)]
pub struct Host(pub(super) Rc<Inner>);

/// A module of the app's that workers load, and how many of them there are.
#[derive(Clone, Debug)]
pub struct WorkerModule {
    url: String,
    options: JsValue,
}

impl WorkerModule {
    /// `url` is that of the glue of `wasm-bindgen --target web`, relative to the page.
    pub fn new(url: &str) -> Self {
        let options = object();
        put(&options, "type", "wasm");
        WorkerModule {
            url: url.into(),
            options,
        }
    }

    /// How many workers are kept, and, unless the capability says otherwise, how many calls may run
    /// at once. 2 unless told otherwise.
    pub fn pool(self, workers: u32) -> Self {
        self.with("pool", workers)
    }

    /// Whether one worker more is kept in reserve, so that no call waits for one to start. It is
    /// unless told otherwise.
    pub fn warm(self, yes: bool) -> Self {
        self.with("warm", yes)
    }

    /// Milliseconds that a call is given to end before its worker is terminated. 50 unless told
    /// otherwise.
    pub fn settle_grace(self, grace: Millis) -> Self {
        self.with("settleGrace", grace)
    }

    /// Where `worker.js` of this package is: for a bundler that does not keep it beside the glue.
    pub fn script(self, url: &str) -> Self {
        self.with("script", url)
    }

    /// Runs in the page, and makes the data of what comes from the worker: for what only a page can
    /// make, or what would end with the worker, such as the URL of a Blob.
    pub fn finish(self, finish: impl Fn(JsValue) -> Result<JsValue, Error> + 'static) -> Self {
        let run = move |data| finish(data).map_err(|error| perform::error(&error));
        let run = Closure::<dyn Fn(JsValue) -> Result<JsValue, JsValue>>::new(run);
        self.with("finish", run.into_js_value())
    }

    fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        put(&self.options, key, value);
        self
    }
}

impl Host {
    /// A host with the default [`Limits`].
    pub fn new(app: App) -> Result<Self, Error> {
        Host::with_limits(app, Limits::default())
    }

    /// A host with limits of the app's own.
    pub fn with_limits(app: App, limits: Limits) -> Result<Self, Error> {
        match sys::problem_with_app(&app.0) {
            Some(problem) => Err(Error::invalid_params(problem)),
            None => {
                let class = get(&HostHandle.into(), "constructor");
                let host = HOSTS.get(Inner::make(&class, &app.0, limits));
                Ok(Host(host.expect("it has just been made")))
            }
        }
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
        if let Some(problem) = sys::problem_with_capability(&name, &options) {
            return Err(Error::invalid_params(problem));
        }
        let document = sys::describe(&name, &options);
        // Dropping its future ends it.
        let descriptor = object::descriptor(&name, &options, document.clone(), Ending::AtOnce);
        let handler = Handler::Rust(Rc::new(run));
        if !self.0.with(|state| state.register(descriptor, handler)) {
            let message = format!("\"{name}\" is registered already");
            return Err(Error::invalid_params(message));
        }
        self.0.shell.capabilities().added(&document);
        Ok(())
    }

    /// Offers a capability that runs in dedicated workers, each of which loads a module of the
    /// app's and runs what that serves with [`crate::worker`]. It may compute without ever
    /// awaiting: a call that will not stop ends with its worker, and the proof of that is waited
    /// for.
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`] when the name is taken or the description makes no sense.
    pub fn register_worker(
        &self,
        capability: Capability,
        module: &WorkerModule,
    ) -> Result<(), Error> {
        let name = capability.name.clone();
        let options = capability.into_options()?;
        self.0
            .js
            .register_worker(&name, &options, &module.url, &module.options)
            .map_err(|error| object::error(&error))
    }

    /// Takes a capability away; calls accepted before still run. False when there is none.
    pub fn unregister(&self, name: &str) -> bool {
        let removed = self.0.with(|state| state.unregister(name));
        if removed {
            self.0.shell.capabilities().removed(name);
        }
        removed
    }

    /// Puts `window.abp` on the page, or on another object.
    pub fn expose(&self, target: &JsValue) {
        self.0.js.expose(target);
    }

    /// Serves agents that post messages to this window, from these origins; the page's own when
    /// none is given.
    pub fn accept_messages(&self, allowed_origins: &[&str]) {
        let options = object();
        if !allowed_origins.is_empty() {
            let origins = allowed_origins.iter().map(|it| JsValue::from_str(it));
            put(&options, "allowedOrigins", origins.collect::<Array>());
        }
        self.0.js.accept_messages(&options);
    }

    /// Serves one agent over a `MessagePort`, a `Worker`, or an extension's port.
    pub fn accept_port(&self, port: &JsValue) {
        self.0.js.accept_port(port);
    }

    /// Whether a JSON-RPC agent that has not declared `cancellation: { request: true }` is told all
    /// the same that a question needs no answer any more. ACP's draft forbids it; false at first.
    pub fn cancel_undeclared(&self, yes: bool) {
        put(&self.0.shell, "cancelUndeclared", yes);
    }

    /// Connects to a gateway, and again whenever the connection is lost.
    pub fn connect_gateway(&self, url: &str, token: Option<&str>) {
        let options = object();
        if let Some(token) = token {
            put(&options, "token", token);
        }
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
