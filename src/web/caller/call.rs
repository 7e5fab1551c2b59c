//! A call: its parameters and options, and the wait for its answer.

use std::cell::Cell;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use js_sys::Array;
use js_sys::futures::{JsFuture, spawn_local};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal};

use super::agent::Agent;
use crate::call::Code;
use crate::web::answer::stop_of;
use crate::web::object::{get, object, put};
use crate::web::sys::now;
use crate::web::{CallError, CancelResponse, Error, data, failure, ids, millis, panics};

/// A call that [`Call::start`] or `.await` makes. Created with [`Agent::call`].
///
/// ```no_run
/// use caphost::{Agent, CallError};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// async fn export(agent: &Agent, stop: &web_sys::AbortSignal) -> Result<Value, CallError> {
///     agent
///         .call("export.pdf", &json!({ "pages": 12 }))
///         .with_timeout(Duration::from_secs(60))
///         .with_signal(stop)
///         .on_progress(|info| web_sys::console::log_1(&info.progress.into()))
///         .await
/// }
/// ```
#[must_use = "a call is made by `start` or `.await`"]
pub struct Call<T> {
    agent: Agent,
    capability: String,
    params: Result<JsValue, Error>,
    options: JsValue,
    id: String,
    timeout: Option<Duration>,
    signals: Array,
    data: PhantomData<fn() -> T>,
}

/// The progress of a call.
///
/// ```no_run
/// use caphost::{Agent, CallError, ProgressInfo};
/// use serde_json::json;
///
/// fn text(info: &ProgressInfo) -> String {
///     let stage = info.stage.as_deref().unwrap_or("working");
///     match info.total {
///         Some(total) => format!("{stage}: {} of {total}", info.progress),
///         None => format!("{stage}: {}", info.progress),
///     }
/// }
///
/// async fn export(agent: &Agent) -> Result<u32, CallError> {
///     let call = agent.call("export.pdf", &json!({ "pages": 12 }));
///     call.on_progress(|info| web_sys::console::log_1(&text(&info).into())).await
/// }
/// ```
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ProgressInfo {
    /// The id of the call.
    pub operation_id: String,
    /// The amount that is done, in any unit.
    pub progress: f64,
    /// The total amount, in the same unit.
    pub total: Option<f64>,
    /// From 0 to 100.
    pub percentage: Option<f64>,
    /// The current work, in a word or two.
    pub stage: Option<String>,
    /// The state of the work, in a phrase for people.
    pub status: Option<String>,
    /// The estimated time until the end.
    #[serde(deserialize_with = "milliseconds")]
    pub estimated_remaining: Option<Duration>,
}

fn milliseconds<'de, D: serde::Deserializer<'de>>(given: D) -> Result<Option<Duration>, D::Error> {
    let time = Option::<f64>::deserialize(given)?;
    Ok(time.and_then(|it| Duration::try_from_secs_f64(it / 1_000.0).ok()))
}

impl Agent {
    /// A call of a capability, which `.await` or [`Call::start`] makes. `T` is the type of its
    /// data.
    ///
    /// The parameters are an object: a struct, or a `serde_json::json!({ … })`. If they cannot be
    /// sent, the call fails with [`Code::INVALID_PARAMS`].
    pub fn call<T: DeserializeOwned>(&self, capability: &str, params: &impl Serialize) -> Call<T> {
        Call::new(self, capability, data::write(params))
    }
}

impl<T: DeserializeOwned> Call<T> {
    fn new(agent: &Agent, capability: &str, params: Result<JsValue, Error>) -> Self {
        Call {
            agent: agent.clone(),
            capability: capability.into(),
            params,
            options: object(),
            id: ids::random().as_str().into(),
            timeout: None,
            signals: Array::new(),
            data: PhantomData,
        }
    }

    /// Cancels the call if it takes longer. The call then ends with [`CallError::Cancelled`], whose
    /// `timed_out` is true.
    pub fn with_timeout(mut self, time: Duration) -> Self {
        put(&self.options, "timeout", millis(time));
        self.timeout = Some(time);
        self
    }

    /// Cancels the call when the signal fires. If the signal has already fired, nothing is sent.
    pub fn with_signal(self, signal: &AbortSignal) -> Self {
        self.signals.push(signal);
        self
    }

    /// Sets the id of the call: 1 to 128 printable characters, unique within the session.
    pub fn with_id(mut self, id: &str) -> Self {
        self.id = id.into();
        self
    }

    /// Asks for progress. The listener gets it until the call has ended.
    pub fn on_progress(self, mut listener: impl FnMut(ProgressInfo) + 'static) -> Self {
        let told = move |info: JsValue| {
            // Progress that cannot be read is ignored.
            if let Ok(info) = serde_wasm_bindgen::from_value(info) {
                listener(info);
            }
        };
        // JavaScript owns the closure: progress may still arrive when nobody waits for the call any
        // more.
        let told = Closure::<dyn FnMut(JsValue)>::new(told).into_js_value();
        put(&self.options, "onProgress", told);
        self
    }

    /// Makes the call, without waiting for its end. The next microtask sends the call.
    pub fn start(self) -> RunningCall<T> {
        let limit = self.timeout.map(|time| Rc::new(Limit::new(time)));
        let (answer, controller) = match self.ask(limit.as_ref()) {
            Ok((answer, controller)) => (Ok(answer), Some(controller)),
            Err(error) => (Err(Some(error)), None),
        };
        RunningCall {
            agent: self.agent,
            id: self.id,
            limit,
            controller,
            answer,
            data: PhantomData,
        }
    }

    fn ask(&self, limit: Option<&Rc<Limit>>) -> Result<(JsFuture, AbortController), Error> {
        panics::notice();
        let params = self.params.clone()?;
        let controller = AbortController::new()?;
        let own = controller.signal();
        self.signals.push(&own);
        let signal = match self.signals.length() {
            1 => own,
            _ => AbortSignal::any(&self.signals),
        };
        put(&self.options, "callId", &*self.id);
        put(&self.options, "signal", &signal);
        let answer = self
            .agent
            .js()
            .call(&self.capability, &params, &self.options);
        let answer = match limit.cloned() {
            None => answer.unchecked_into(),
            // JavaScript owns the closure: nobody may wait for the call any more.
            Some(limit) => answer.finally(&Closure::once_into_js(move || limit.settled(&signal))),
        };
        Ok((JsFuture::from(answer), controller))
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("capability", &self.capability)
            .field("id", &self.id)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> IntoFuture for Call<T> {
    type Output = Result<T, CallError>;
    type IntoFuture = RunningCall<T>;

    fn into_future(self) -> RunningCall<T> {
        self.start()
    }
}

/// The time limit of a call. A response does not say why the call was cancelled.
struct Limit {
    ends: f64,
    /// Whether the caller has cancelled the call.
    cancelled: Cell<bool>,
    /// Whether the call has settled because its time was up.
    reached: Cell<bool>,
}

impl Limit {
    fn new(time: Duration) -> Self {
        Limit {
            ends: now() + millis(time),
            cancelled: Cell::new(false),
            reached: Cell::new(false),
        }
    }

    fn settled(&self, signal: &AbortSignal) {
        let by_caller = self.cancelled.get() || signal.aborted();
        self.reached.set(!by_caller && now() >= self.ends);
    }
}

/// A running call: a future of its data.
///
/// # Errors
/// A [`CallError`], which distinguishes three cases: the call was cancelled; it failed; or it
/// completed with data that cannot be read as `T`.
///
/// # Cancellation
/// Dropping it cancels the call, also in a `select!` whose other branch wins. Nobody then learns
/// whether the capability had already completed. To stop waiting without a cancel, use
/// [`RunningCall::detach`]. To wait again later, use `&mut call` in the `select!`.
///
/// ```no_run
/// use caphost::{Agent, CallError, Stop};
/// use serde_json::{Value, json};
///
/// async fn start_and_stop(agent: &Agent) {
///     let call = agent.call::<Value>("export.pdf", &json!({ "pages": 12 })).start();
///     let confirmed = call.cancel(Some("The user has changed the text")).await;
///     if confirmed.cancelled {
///         assert_eq!(call.await.unwrap_err().stop(), confirmed.stop);
///     }
/// }
/// ```
#[must_use = "dropping it cancels the call"]
pub struct RunningCall<T> {
    agent: Agent,
    id: String,
    limit: Option<Rc<Limit>>,
    /// Present until the call has settled.
    controller: Option<AbortController>,
    /// The answer, or the reason why the call could not be made.
    answer: Result<JsFuture, Option<Error>>,
    data: PhantomData<fn() -> T>,
}

impl<T> RunningCall<T> {
    /// The id of the call, for [`Agent::cancel`].
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Cancels the call. The confirmation says whether the call was cancelled. So does the call's
    /// own response, which you may await after this. The two never contradict each other.
    ///
    /// `reason` is for logs and the capability.
    pub fn cancel(
        &self,
        reason: Option<&str>,
    ) -> impl Future<Output = CancelResponse> + use<T> + 'static {
        if let Some(limit) = &self.limit {
            limit.cancelled.set(true);
        }
        self.agent.cancel(&self.id, reason)
    }

    /// Lets the call continue without anybody who waits for it. Its end is not reported, and no
    /// drop cancels it. Its timeout, its signals, and [`Agent::cancel`] with its id still cancel
    /// it.
    ///
    /// The session stays open until the call has ended, even when every [`Agent`] of the session is
    /// dropped.
    ///
    /// ```no_run
    /// use caphost::Agent;
    /// use serde_json::json;
    ///
    /// fn save(agent: &Agent, text: &str) {
    ///     agent.call::<()>("draft.save", &json!({ "text": text })).start().detach();
    /// }
    /// ```
    pub fn detach(mut self) {
        self.controller = None;
        if let Ok(answer) = std::mem::replace(&mut self.answer, Err(None)) {
            let agent = self.agent.clone();
            spawn_local(async move {
                let _ = answer.await;
                drop(agent);
            });
        }
    }
}

impl<T> fmt::Debug for RunningCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningCall")
            .field("id", &self.id)
            .field("settled", &self.controller.is_none())
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Future for RunningCall<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut self.answer {
            Ok(answer) => std::task::ready!(Pin::new(answer).poll(context)),
            Err(error) => {
                let again = || Error::new(Code::INTERNAL_ERROR, "The call was waited for already");
                let error = error.take().unwrap_or_else(again);
                return Poll::Ready(Err(CallError::Failed(error)));
            }
        };
        self.controller = None;
        self.answer = Err(None);
        // This promise does not reject.
        let response = answer.unwrap_or_default();
        let timed_out = self.limit.as_ref().is_some_and(|it| it.reached.get());
        Poll::Ready(data_of(response, timed_out))
    }
}

impl<T> Drop for RunningCall<T> {
    fn drop(&mut self) {
        if let Some(controller) = &self.controller {
            controller.abort_with_reason(&"Nobody waits for the call any more".into());
        }
    }
}

/// The data of an `ABPResponse`. If the response says that the call was cancelled, `timed_out` says
/// why.
fn data_of<T: DeserializeOwned>(response: JsValue, timed_out: bool) -> Result<T, CallError> {
    if get(&response, "success") == true {
        let data = get(&response, "data");
        data::read("The call has completed", data).map_err(|error| CallError::Decode {
            message: error.message.clone().into_owned(),
            response,
        })
    } else if get(&response, "cancelled") == true {
        let stop = stop_of(&response);
        Err(CallError::Cancelled { stop, timed_out })
    } else {
        let error = failure::read(&get(&response, "error"));
        Err(CallError::Failed(Error::of(error)))
    }
}
