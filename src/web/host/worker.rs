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

use super::context::{CallContext, Place};
use super::end::End;
use super::executor::Outcome;
use super::params;
use crate::call::{CallId, Code};
use crate::offers::Task;
use crate::web::answer::CHILD_CANCELLED;
use crate::web::object::{get, object, put};
use crate::web::{Error, Failure, failure, panics};

#[wasm_bindgen(module = "/src/web/bundled/page.js")]
extern "C" {
    #[wasm_bindgen(js_name = inWorker)]
    fn in_worker() -> bool;
    #[wasm_bindgen(js_name = serve)]
    fn serve_in_worker(name: &str, start: &JsValue, poll: &JsValue, stop: &JsValue);
}

#[wasm_bindgen]
extern "C" {
    /// One call, as an object of `worker.js`.
    #[derive(Clone)]
    pub(super) type WorkerCall;

    #[wasm_bindgen(method, getter, js_name = callId)]
    fn call_id(this: &WorkerCall) -> String;
    #[wasm_bindgen(method, getter)]
    pub(super) fn signal(this: &WorkerCall) -> AbortSignal;
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &WorkerCall) -> bool;
    /// Whether the call must stop, as far as its handler knows.
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
            run().await.map_err(Error::into_failure)
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

/// Reports the end of a call whose future has not been dropped.
fn finish(call: &WorkerCall, end: &End, result: Outcome) {
    end.over(call.told());
    match result {
        // Serde made these data here: nobody else has a reference to them.
        Ok(data) => call.end("done", &data, true),
        Err(error) => call.end("failed", &failure::error(&error), false),
    }
}

/// The running call, if it is a future. A worker runs one call at a time.
struct Running {
    call: WorkerCall,
    end: Rc<End>,
    task: Task<Outcome>,
    waker: Waker,
    scheduled: Cell<bool>,
    /// Whether the future has seen at a checkpoint that it must stop. It is dropped at the end of
    /// its poll.
    stops: Cell<bool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Running>>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// Names the call to wake by its number, as a waker may go to any thread.
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
        task: Task::new(Box::pin(future)),
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

/// Drops the future. Its drop guards have run before the page is told.
fn stop() {
    if let Some(running) = CURRENT.take() {
        running.end.stop(None);
        if running.task.stop() {
            running.call.dropped();
        }
    }
}

/// Returns unless the call must stop. In that case it never returns.
pub(super) async fn checkpoint(call: &WorkerCall) {
    if call.cancelled() {
        if let Some(running) = CURRENT.with_borrow(Clone::clone) {
            running.stops.set(true);
        }
        return std::future::pending().await;
    }
    super::checkpoint::checkpoint().await;
}

/// Calls another capability. Dropping the future cancels the child.
pub(super) async fn call(
    call: &WorkerCall,
    capability: &str,
    params: &JsValue,
    timeout: Option<f64>,
) -> Outcome {
    struct Abort(AbortController);
    impl Drop for Abort {
        fn drop(&mut self) {
            // Has no effect once the child has ended.
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

/// Asks the agent a question. The end of the call withdraws the question.
pub(super) async fn elicit(call: &WorkerCall, request: &JsValue) -> Outcome {
    answer(call.ask("elicit", request)).await
}

/// The data of the `ABPResponse` of a promise that does not reject.
async fn answer(promise: Promise) -> Outcome {
    // This promise does not reject.
    let response = promise.await.unwrap_or_default();
    if get(&response, "success") == true {
        return Ok(get(&response, "data"));
    }
    if get(&response, "cancelled") == true {
        return Err(Failure::new(Code::OPERATION_FAILED, CHILD_CANCELLED));
    }
    Err(failure::read(&get(&response, "error")))
}
