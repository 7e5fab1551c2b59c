//! The call that runs in a worker, and its future.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal};

use super::end::{End, Outcome};
use crate::call::Code;
use crate::offers::Task;
use crate::web::answer::CHILD_CANCELLED;
use crate::web::object::{get, object, put};
use crate::web::{Failure, failure};

#[wasm_bindgen]
extern "C" {
    /// One call, as an object of `worker.js`.
    #[derive(Clone)]
    pub(super) type WorkerCall;

    #[wasm_bindgen(method, getter, js_name = callId)]
    pub(super) fn call_id(this: &WorkerCall) -> String;
    #[wasm_bindgen(method, getter)]
    pub(super) fn signal(this: &WorkerCall) -> AbortSignal;
    #[wasm_bindgen(method)]
    pub(super) fn cancelled(this: &WorkerCall) -> bool;
    /// Whether the call must stop, as far as its handler knows.
    #[wasm_bindgen(method, getter)]
    pub(super) fn told(this: &WorkerCall) -> bool;
    #[wasm_bindgen(method)]
    pub(super) fn progress(this: &WorkerCall, info: &JsValue);
    #[wasm_bindgen(method)]
    pub(super) fn call(
        this: &WorkerCall,
        capability: &str,
        params: &JsValue,
        options: &JsValue,
    ) -> Promise;
    #[wasm_bindgen(method)]
    pub(super) fn ask(this: &WorkerCall, what: &str, request: &JsValue) -> Promise;
    #[wasm_bindgen(method)]
    pub(super) fn end(this: &WorkerCall, how: &str, value: &JsValue, fresh: bool);
    #[wasm_bindgen(method)]
    pub(super) fn dropped(this: &WorkerCall);
    #[wasm_bindgen(method)]
    pub(super) fn schedule(this: &WorkerCall);
}

/// Reports the end of a call whose future has not been dropped.
pub(super) fn finish(call: &WorkerCall, end: &End, result: Outcome) {
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

pub(super) fn run(call: WorkerCall, end: Rc<End>, future: impl Future<Output = Outcome> + 'static) {
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

pub(super) fn poll() {
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

/// Drops the future. Its drop guards have run before the page learns of the end.
pub(super) fn stop() {
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
