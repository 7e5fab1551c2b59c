//! Capabilities that run in workers: the handlers that an app's own module serves there.
//!
//! A page offers them with [`crate::Host::register_worker`]. The worker loads the same module. The
//! module's start function names the handlers with [`serve`] and [`serve_sync`]:
//!
//! ```no_run
//! use caphost::{CallContext, Error, worker};
//!
//! #[derive(serde::Deserialize)]
//! struct Params {
//!     below: u64,
//! }
//!
//! /// Counts without ever awaiting: a cancel ends it where it looks.
//! fn count(Params { below }: Params, context: CallContext) -> Result<u64, Error> {
//!     let mut odd = 0;
//!     for n in 0..below {
//!         if context.is_cancelled() {
//!             return Err(Error::cancelled());
//!         }
//!         odd += n & 1;
//!     }
//!     Ok(odd)
//! }
//!
//! worker::serve_sync("numbers.count", count);
//! ```
//!
//! The start function runs in the page and in each worker. It therefore serves the handlers first,
//! then returns if [`is_worker`] is true, and only then makes the host:
//!
//! ```no_run
//! use caphost::{App, Capability, Error, Host, WorkerModule, worker};
//! use wasm_bindgen::prelude::*;
//!
//! # fn serve() {}
//! #[wasm_bindgen(start)]
//! fn start() -> Result<(), Error> {
//!     serve(); // as above
//!     if worker::is_worker() {
//!         return Ok(());
//!     }
//!     let host = Host::new(App::new("my-app", "My app", "1.0.0"))?;
//!     let module = WorkerModule::new("pkg/my_app.js");
//!     host.register_worker(Capability::new("numbers.count"), &module)?;
//!     host.expose(&js_sys::global())
//! }
//! ```

use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::end::End;
use super::inner::{CallContext, Place};
use super::params;
use super::worker_call::{WorkerCall, finish, poll, run, stop};
use crate::call::CallId;
use crate::web::{Error, panics};

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    #[wasm_bindgen(js_name = inWorker)]
    fn in_worker() -> bool;
    #[wasm_bindgen(js_name = serve)]
    fn serve_in_worker(name: &str, start: &JsValue, poll: &JsValue, stop: &JsValue);
}

/// Whether this is one of the workers of [`crate::Host::register_worker`]. A worker must not have a
/// host: a start function that makes a host returns before it does so.
pub fn is_worker() -> bool {
    in_worker()
}

/// Sets the handler of a capability's calls in a worker. Has no effect outside of workers. A cancel
/// drops the future where it awaits. If the future awaits a [`CallContext::checkpoint`] and the
/// page is cross-origin isolated, that happens at once. Otherwise it happens when the worker's
/// event loop runs.
///
/// The parameters are an object, so `P` is a struct.
pub fn serve<P, T>(name: &str, handler: impl AsyncFn(P, CallContext) -> Result<T, Error> + 'static)
where
    P: DeserializeOwned + 'static,
    T: Serialize,
{
    let handler = Rc::new(handler);
    offer(name, move |given, call| {
        let (handler, end) = (handler.clone(), Rc::<End>::default());
        let context = context(&call, &end);
        run(call, end, async move {
            let run = async || params::returned(&handler(params::read(given)?, context).await?);
            panics::noticing(run()).await.map_err(Error::into_failure)
        });
    });
}

/// Does the same for a function that computes without awaiting. The function checks
/// [`CallContext::is_cancelled`] now and then. A function that does not is ended together with its
/// worker.
pub fn serve_sync<P, T>(name: &str, handler: impl Fn(P, CallContext) -> Result<T, Error> + 'static)
where
    P: DeserializeOwned,
    T: Serialize,
{
    offer(name, move |given, call| {
        let end = Rc::<End>::default();
        let result = params::read(given).and_then(|params| handler(params, context(&call, &end)));
        let result = result.and_then(|data| params::returned(&data));
        finish(&call, &end, result.map_err(Error::into_failure));
    });
}

fn offer(name: &str, start: impl Fn(JsValue, WorkerCall) + 'static) {
    if in_worker() {
        panics::notice();
        let start = move |given, call| {
            panics::notice();
            start(given, call);
        };
        let start = Closure::<dyn Fn(JsValue, WorkerCall)>::new(start).into_js_value();
        let poll = Closure::<dyn Fn()>::new(poll).into_js_value();
        let stop = Closure::<dyn Fn()>::new(stop).into_js_value();
        serve_in_worker(name, &start, &poll, &stop);
    }
}

fn context(call: &WorkerCall, end: &Rc<End>) -> CallContext {
    // The host has already checked this id.
    let id = CallId::parse(&call.call_id()).unwrap_or_else(|_| CallId::random());
    CallContext {
        place: Place::Worker {
            call: call.clone(),
            end: end.clone(),
        },
        id,
    }
}
