//! Capabilities that run in workers: what an app's own module serves there.
//!
//! A page offers them with [`crate::Host::register_worker`]. The worker loads the same module, whose
//! start function says with [`serve`] and [`serve_sync`] what runs:
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
//! The start function runs in the page and in each worker. So it serves first, then returns if
//! [`is_worker`], and only then makes the host:
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

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Promise;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal};

use super::ask::CHILD_CANCELLED;
use super::context::{CallContext, Place};
use super::end::End;
use super::executor::Outcome;
use super::object::{self, get, object, put};
use super::{Error, Failure, data, panics, params, perform};
use crate::call::{CallId, Code};
use crate::offers::Task;

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    #[wasm_bindgen(js_name = inWorker)]
    fn in_worker() -> bool;
    #[wasm_bindgen(js_name = serve)]
    fn serve_in_worker(name: &str, start: &JsValue, poll: &JsValue, stop: &JsValue);
}

#[wasm_bindgen]
extern "C" {
    /// One call, as `worker.js` has it.
    #[derive(Clone)]
    pub(super) type WorkerCall;

    #[wasm_bindgen(method, getter, js_name = callId)]
    fn call_id(this: &WorkerCall) -> String;
    #[wasm_bindgen(method, getter)]
    pub(super) fn signal(this: &WorkerCall) -> AbortSignal;
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &WorkerCall) -> bool;
    /// Whether the call was to stop, as far as this is known to its handler.
    #[wasm_bindgen(method, getter)]
    fn told(this: &WorkerCall) -> bool;
    #[wasm_bindgen(method)]
    pub(super) fn progress(this: &WorkerCall, info: &JsValue);
    #[wasm_bindgen(method)]
    fn call(this: &WorkerCall, capability: &str, params: &JsValue, options: &JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn ask(this: &WorkerCall, what: &str, request: &JsValue) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &WorkerCall, how: &str, value: &JsValue, fresh: bool);
    #[wasm_bindgen(method)]
    fn dropped(this: &WorkerCall);
    #[wasm_bindgen(method)]
    fn schedule(this: &WorkerCall);
}

/// Whether this is one of the workers of [`crate::Host::register_worker`]. There is no host there:
/// a start function that makes one returns before it does.
pub fn is_worker() -> bool {
    in_worker()
}

/// Says what runs the calls of a capability, in a worker; elsewhere nothing comes of it. A cancel
/// drops the future where it awaits: at once, if that is a [`CallContext::checkpoint`] and the page
/// is cross-origin isolated, else when the worker's event loop has its turn.
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
            let run = async || data::returned(&handler(params::read(given)?, context).await?);
            run().await.map_err(Error::into_failure)
        });
    });
}

/// The same of a function that computes without awaiting. It looks at [`CallContext::is_cancelled`]
/// now and then; one that does not is ended with its worker.
pub fn serve_sync<P, T>(name: &str, handler: impl Fn(P, CallContext) -> Result<T, Error> + 'static)
where
    P: DeserializeOwned,
    T: Serialize,
{
    offer(name, move |given, call| {
        let end = Rc::<End>::default();
        let result = params::read(given).and_then(|params| handler(params, context(&call, &end)));
        let result = result.and_then(|data| data::returned(&data));
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
    // The host has read it.
    let id = CallId::parse(&call.call_id()).unwrap_or_else(|_| CallId::random());
    CallContext {
        place: Place::Worker {
            call: call.clone(),
            end: end.clone(),
        },
        id,
    }
}

/// The end of a call whose future has not been dropped.
fn finish(call: &WorkerCall, end: &End, result: Outcome) {
    end.over(call.told());
    match result {
        // Made by serde here: nobody else has what is in it.
        Ok(data) => call.end("done", &data, true),
        Err(error) => call.end("failed", &perform::error(&error), false),
    }
}

/// The call that runs, if it is a future: a worker has one at a time.
struct Running {
    call: WorkerCall,
    end: Rc<End>,
    task: Task<Outcome>,
    waker: Waker,
    scheduled: Cell<bool>,
    /// It has seen at a checkpoint that it is to stop, and is dropped at the end of its poll.
    stops: Cell<bool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Running>>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// Names the call to wake by its number, as a waker could go anywhere.
struct WakeUp(u32);

impl Wake for WakeUp {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let current = CURRENT.with_borrow(Clone::clone);
        if let Some(running) = current.filter(|_| COUNT.get() == self.0)
            && !running.scheduled.replace(true)
        {
            running.call.schedule();
        }
    }
}

fn run(call: WorkerCall, end: Rc<End>, future: impl Future<Output = Outcome> + 'static) {
    COUNT.set(COUNT.get().wrapping_add(1));
    let running = Running {
        call,
        end,
        task: Task::new(future),
        waker: Waker::from(Arc::new(WakeUp(COUNT.get()))),
        scheduled: Cell::new(false),
        stops: Cell::new(false),
    };
    CURRENT.set(Some(running.into()));
    poll();
}

fn poll() {
    let Some(running) = CURRENT.with_borrow(Clone::clone) else {
        return;
    };
    running.scheduled.set(false);
    let polled = running.task.poll(&mut Context::from_waker(&running.waker));
    match polled {
        Poll::Ready(result) => {
            CURRENT.take();
            if let Some(result) = result {
                finish(&running.call, &running.end, result);
            }
        }
        Poll::Pending if running.stops.get() => stop(),
        Poll::Pending => {}
    }
}

/// Drops the future: its drop guards have run when the page is told.
fn stop() {
    if let Some(running) = CURRENT.take() {
        running.end.stop(None);
        if running.task.stop() {
            running.call.dropped();
        }
    }
}

/// Goes on unless the call is to stop; then it never does.
pub(super) async fn checkpoint(call: &WorkerCall) {
    if call.cancelled() {
        if let Some(running) = CURRENT.with_borrow(Clone::clone) {
            running.stops.set(true);
        }
        return std::future::pending().await;
    }
    super::checkpoint::checkpoint().await;
}

/// Calls another capability; dropping the future cancels the child.
pub(super) async fn call(
    call: &WorkerCall,
    capability: &str,
    params: &JsValue,
    timeout: Option<f64>,
) -> Outcome {
    struct Abort(AbortController);
    impl Drop for Abort {
        fn drop(&mut self) {
            // Nothing comes of it once the child has ended.
            self.0.abort();
        }
    }

    let options = object();
    if let Some(timeout) = timeout {
        put(&options, "timeout", timeout);
    }
    let controller = AbortController::new()
        .map_err(|_| Failure::new(Code::BROWSER_ERROR, "There is no AbortController"))?;
    put(&options, "signal", controller.signal());
    let _abort = Abort(controller);
    answer(call.call(capability, params, &options)).await
}

/// Asks the agent. The question is withdrawn with the call.
pub(super) async fn elicit(call: &WorkerCall, request: &JsValue) -> Outcome {
    answer(call.ask("elicit", request)).await
}

/// The data of an `ABPResponse`, of a promise that does not reject.
async fn answer(promise: Promise) -> Outcome {
    // It does not reject.
    let response = promise.await.unwrap_or_default();
    if get(&response, "success") == true {
        return Ok(get(&response, "data"));
    }
    if get(&response, "cancelled") == true {
        return Err(Failure::new(Code::OPERATION_FAILED, CHILD_CANCELLED));
    }
    Err(object::error(&get(&response, "error")))
}
