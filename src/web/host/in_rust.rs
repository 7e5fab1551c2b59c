//! The host of a page, for an app in Rust.

use std::fmt;
use std::rc::Rc;

use js_sys::Array;
use send_wrapper::SendWrapper;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

use super::builder::{App, Capability};
use super::descriptor::descriptor;
use super::inner::{CallContext, HOSTS, Inner, LocalFuture};
use super::watch::{self, Observer, Stats};
use super::worker_module::WorkerModule;
use super::{HostHandle, executor, params, sys, worker};
use crate::call::Code;
use crate::offers::Ending;
use crate::session::Limits;
use crate::web::answer::CancelResponse;
use crate::web::names::in_rust;
use crate::web::object::{object, put};
use crate::web::{Error, data, panics};

/// A page's host: its Rust capabilities, which agents reach over every transport of the browser.
///
/// Cheap to clone. All clones are the same host. The host lives until [`Host::close`] or the end of
/// the page, even when every clone is dropped.
///
/// # Panics
/// A `Host` is `Send` and `Sync`, because frameworks such as Leptos require that. But it belongs to
/// the thread that made it: every use in another thread panics, and so does a drop there.
///
/// A capability that panics ends the whole module: see [the crate](crate#panics).
///
/// ```no_run
/// use caphost::{App, CallContext, Capability, Error, Host};
/// use wasm_bindgen::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// struct Text {
///     text: String,
/// }
///
/// async fn count_words(Text { text }: Text, _: CallContext) -> Result<usize, Error> {
///     Ok(text.split_whitespace().count())
/// }
///
/// #[wasm_bindgen(start)]
/// fn start() -> Result<(), Error> {
///     let host = Host::new(App::new("my-app", "My app", "1.0.0"))?;
///     host.register(Capability::new("text.words"), count_words)?;
///     host.expose(&js_sys::global())?; // `window.abp`
///     host.accept_messages(&["https://agent.example"])?; // a window of that origin
///     host.connect_gateway("ws://127.0.0.1:8787/abp/app", None)?; // agents elsewhere
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Host(pub(super) SendWrapper<Rc<Inner>>);

const IN_WORKER: &str = "This is a worker of `register_worker`, whose host is in the page: the start function must return before `Host::new` if `worker::is_worker()` is true";

/// Clones are equal, as all clones are the same host.
impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Host {
    /// A host with the default [`Limits`].
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`] if the app's description is invalid. [`Code::NOT_SUPPORTED`] in a
    /// worker of [`Host::register_worker`]: the worker loads the same module, so the start function
    /// must return before it makes a host if [`crate::worker::is_worker`] is true.
    pub fn new(app: App) -> Result<Self, Error> {
        Host::with_limits(app, Limits::default())
    }

    /// A host with the given limits.
    ///
    /// # Errors
    /// Like [`Host::new`].
    pub fn with_limits(app: App, limits: Limits) -> Result<Self, Error> {
        if worker::is_worker() {
            // Each worker would otherwise make another host, each with its own connection to the
            // gateway.
            return Err(Error::new(Code::NOT_SUPPORTED, IN_WORKER));
        }
        panics::notice();
        match sys::problem_with_app(&app.0) {
            Some(problem) => Err(Error::invalid_params(problem)),
            None => {
                let class = HostHandle::class();
                let host = HOSTS.get(Inner::make(&class, &app.0, limits));
                Ok(Host(SendWrapper::new(host.expect("it has just been made"))))
            }
        }
    }

    /// Registers an async function as a capability. Serde converts the caller's parameters, after
    /// the check against the input schema, and also the data of the response. An error keeps its
    /// code. [`Error::cancelled`] says that the handler has stopped by itself.
    ///
    /// The handler may be an async closure. All calls share its state:
    ///
    /// ```no_run
    /// use caphost::{CallContext, Capability, Error, Host};
    /// use std::cell::Cell;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Add {
    ///     amount: u32,
    /// }
    ///
    /// fn offer(host: &Host) -> Result<(), Error> {
    ///     let sum = Cell::new(0);
    ///     host.register(Capability::new("sum.add"), async move |add: Add, _: CallContext| {
    ///         sum.set(sum.get() + add.amount);
    ///         Ok(sum.get())
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`] if the name is taken or the description is invalid, or if `P` is a
    /// type that cannot be read from an object, such as `u32`.
    pub fn register<P, T>(
        &self,
        capability: Capability,
        handler: impl AsyncFn(P, CallContext) -> Result<T, Error> + 'static,
    ) -> Result<(), Error>
    where
        P: DeserializeOwned + 'static,
        T: Serialize,
    {
        let handler = Rc::new(handler);
        let run = move |given: JsValue, context: CallContext| -> LocalFuture {
            panics::notice();
            let handler = handler.clone();
            Box::pin(async move {
                let run = async || params::returned(&handler(params::read(given)?, context).await?);
                panics::noticing(run()).await.map_err(Error::into_failure)
            })
        };
        let name = capability.name.clone();
        let options = capability.into_options()?;
        if let Some(problem) = params::problem_with::<P>() {
            return Err(Error::invalid_params(format!("{name}: {problem}")));
        }
        if let Some(problem) = sys::problem_with_capability(&name, &options) {
            return Err(Error::invalid_params(problem));
        }
        let document = sys::describe(&name, &options);
        // Dropping its future ends the handler.
        let descriptor = descriptor(&name, &options, document.clone(), Ending::AtOnce);
        let handler = executor::handler(Box::new(run));
        if !self.0.with(|state| state.register(descriptor, handler)) {
            let message = format!("\"{name}\" is registered already");
            return Err(Error::invalid_params(message));
        }
        self.0.shell.capabilities().added(&document);
        Ok(())
    }

    /// Offers a capability that runs in dedicated workers. Each worker loads a module of the app
    /// and runs the handlers that the module serves with [`crate::worker`]. A handler may compute
    /// without ever awaiting. A call that does not stop ends with its worker, and the host waits
    /// for the proof of that end.
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`] if the name is taken or the description is invalid.
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
            .map_err(in_rust)
    }

    /// Removes a capability. Calls that were accepted before still run. False if there is no
    /// capability of that name.
    pub fn unregister(&self, name: &str) -> bool {
        let removed = self.0.with(|state| state.unregister(name));
        if removed {
            self.0.shell.capabilities().removed(name);
        }
        removed
    }

    /// Puts `window.abp` on the page, or on another object.
    ///
    /// # Errors
    /// If the host is closed, or if another host, even one in JavaScript, is already there.
    pub fn expose(&self, target: &JsValue) -> Result<(), Error> {
        self.0.js.expose(target, &object()).map_err(in_rust)
    }

    /// Does the same. In a browser with WebMCP, the capabilities are also tools of the browser.
    ///
    /// # Errors
    /// If the host is closed.
    pub fn expose_with_webmcp(&self, target: &JsValue) -> Result<(), Error> {
        let options = object();
        put(&options, "webmcp", true);
        self.0.js.expose(target, &options).map_err(in_rust)
    }

    /// Serves agents that post messages to this window from the given origins. An empty list means
    /// the page's own origin.
    ///
    /// # Errors
    /// If a string is no origin, if another host serves this window, or if there is no page.
    pub fn accept_messages(&self, allowed_origins: &[&str]) -> Result<(), Error> {
        let options = object();
        if !allowed_origins.is_empty() {
            let origins = allowed_origins.iter().map(|it| JsValue::from_str(it));
            put(&options, "allowedOrigins", origins.collect::<Array>());
        }
        let accepted = self.0.js.accept_messages(&options);
        accepted.map(drop).map_err(in_rust)
    }

    /// Serves one agent over a `MessagePort`, a `Worker`, or an extension's port.
    ///
    /// # Errors
    /// If the value is no port, or if the port is already served.
    pub fn accept_port(&self, port: &JsValue) -> Result<(), Error> {
        self.0.js.accept_port(port).map(drop).map_err(in_rust)
    }

    /// Sets whether a JSON-RPC agent is told that a question needs no answer any more, even if the
    /// agent has not declared `cancellation: { request: true }`. ACP's draft forbids this. Default
    /// false.
    pub fn cancel_undeclared(&self, yes: bool) {
        put(&self.0.shell, "cancelUndeclared", yes);
    }

    /// Connects to a gateway, and reconnects whenever the connection is lost. `token` is for a
    /// gateway that requires a token of apps.
    ///
    /// # Errors
    /// If the URL is not the URL of a WebSocket.
    pub fn connect_gateway(&self, url: &str, token: Option<&str>) -> Result<(), Error> {
        let options = object();
        if let Some(token) = token {
            put(&options, "token", token);
        }
        self.0.js.connect_gateway(url, &options).map_err(in_rust)
    }

    /// Sends a notification to every agent that accepts notifications. Agents in Rust get it
    /// through [`Connect::on_notification`](crate::Connect::on_notification).
    ///
    /// # Errors
    /// If serde cannot write the data.
    pub fn notify(&self, event: &str, data: &impl Serialize) -> Result<(), Error> {
        self.0.js.notify(event, &data::write(data)?);
        Ok(())
    }

    /// Cancels a call of one of the host's agents. [`Host::observe`] reports both ids. The cancel is
    /// made when the future is first polled.
    pub async fn cancel_call(
        &self,
        session_id: &str,
        call_id: &str,
        reason: Option<&str>,
    ) -> CancelResponse {
        let answer = self.0.js.cancel_call(session_id, call_id, reason);
        // This promise does not reject.
        CancelResponse::read(&answer.await.unwrap_or_default())
    }

    /// Tells the host that the app shows people the calls that wait for consent (`true`), or no
    /// longer does. While it does, no agent is asked. `<cap-activity>` does this by itself. Two
    /// interfaces both tell it.
    ///
    /// [`Host::observe`] reports these calls, as events of the type `confirm`; [`Host::answer`]
    /// answers.
    ///
    /// ```no_run
    /// use caphost::Host;
    ///
    /// #[derive(serde::Deserialize)]
    /// #[serde(tag = "type", rename_all = "lowercase")]
    /// enum Event {
    ///     Confirm { capability: String, question: Option<u32> },
    /// }
    ///
    /// fn ask_people(host: &Host) {
    ///     host.confirm_here(true);
    ///     let answers = host.clone();
    ///     let ask = move |Event::Confirm { capability, question }| {
    ///         let window = web_sys::window().expect("a page");
    ///         if let Some(question) = question {
    ///             let text = format!("Allow {capability}?");
    ///             let allow = window.confirm_with_message(&text).unwrap_or(false);
    ///             answers.answer(question, allow);
    ///         }
    ///     };
    ///     host.observe(ask).forget();
    /// }
    /// ```
    pub fn confirm_here(&self, on: bool) {
        self.0.with(|state| state.show_consents(on, sys::now()));
    }

    /// A person has allowed or denied the call of a question of [`Host::confirm_here`]. False if
    /// the call does not wait any more: it was cancelled, for example.
    pub fn answer(&self, question: u32, allow: bool) -> bool {
        self.0
            .with(|state| state.consent(question, Some(allow), sys::now()))
    }

    /// Calls a listener with each step of each call, until the observer is dropped. `T` is the type
    /// of the listener's argument: a `serde_json::Value`, or your own struct or enum with the
    /// needed parts of a `HostEvent`. An event that serde cannot read as `T` is skipped.
    ///
    /// ```no_run
    /// use caphost::{Host, Observer};
    ///
    /// #[derive(serde::Deserialize)]
    /// #[serde(tag = "type", rename_all = "lowercase")]
    /// enum Event {
    ///     #[serde(rename_all = "camelCase")]
    ///     Call { call_id: String, capability: String, state: String },
    /// }
    ///
    /// fn follow(host: &Host) -> Observer {
    ///     host.observe(|Event::Call { call_id, capability, state }| {
    ///         web_sys::console::log_1(&format!("{capability} {call_id} {state}").into());
    ///     })
    /// }
    /// ```
    pub fn observe<T: DeserializeOwned>(&self, listener: impl FnMut(T) + 'static) -> Observer {
        watch::observe(&self.0.js, listener)
    }

    /// The numbers of held objects and the counters.
    pub fn stats(&self) -> Stats {
        watch::stats(&self.0.js)
    }

    /// The ABP manifest of the registered capabilities, as a JavaScript object.
    pub fn manifest(&self) -> JsValue {
        self.0.js.manifest()
    }

    /// Ends every session. The calls in flight are cancelled and answered.
    pub fn close(&self) {
        self.0.js.close();
    }

    /// The host as JavaScript sees it: the same as the result of `createHost` of the npm package.
    pub fn as_js(&self) -> JsValue {
        self.0.js.clone().unchecked_into()
    }
}
