//! What a Rust capability is given for one call.

use std::rc::Rc;
use std::time::Duration;

use futures::channel::oneshot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use web_sys::AbortSignal;

use super::builder::Progress;
use super::end::End;
use super::inner::{Inner, State};
use super::object::{get, object, put};
use super::receive::question;
use super::sys::now;
use super::worker::{self, WorkerCall};
use super::{Error, data, inspect};
use crate::call::{CallId, Code, Outcome, Response};
use crate::session::CallRequest;

/// One call, as its handler sees it.
///
/// A handler needs no code for cancellation: when its call is cancelled, its future is dropped,
/// and with it everything it holds. [`CallContext::signal`] carries the cancel on to JavaScript,
/// and [`CallContext::checkpoint`] lets a cancel in during a long computation.
///
/// ```no_run
/// use caphost::{CallContext, Error, Progress};
/// use serde_json::Value;
/// use wasm_bindgen_futures::JsFuture;
///
/// #[derive(serde::Deserialize)]
/// struct Params {
///     pages: u32,
/// }
///
/// async fn report(Params { pages }: Params, context: CallContext) -> Result<usize, Error> {
///     // A cancel breaks off the download,
///     let options = web_sys::RequestInit::new();
///     options.set_signal(Some(&context.signal()?));
///     let window = web_sys::window().ok_or_else(|| Error::other("no page"))?;
///     JsFuture::from(window.fetch_with_str_and_init("/data", &options)).await?;
///     // ends a long computation here,
///     for page in 0..pages {
///         context.checkpoint().await;
///         context.progress(Progress::new(page, pages));
///     }
///     // and cancels what the capability has called.
///     let words: Vec<Value> = context
///         .call("text.words", &serde_json::json!({ "pages": pages }), None)
///         .await?;
///     Ok(words.len())
/// }
/// ```
#[derive(Clone)]
pub struct CallContext {
    pub(super) place: Place,
    pub(super) id: CallId,
}

/// Where a handler runs.
#[derive(Clone)]
pub(super) enum Place {
    /// Beside its host.
    Page {
        host: Rc<Inner>,
        key: u32,
        end: Rc<End>,
    },
    Worker {
        call: WorkerCall,
        end: Rc<End>,
    },
}

impl CallContext {
    /// The call's id, unique in its session.
    pub fn call_id(&self) -> &str {
        self.id.as_str()
    }

    /// Gives the event loop its turn if about 8 ms have passed since it last had it, and costs
    /// next to nothing otherwise. Put one into every loop that may run long: a cancel that arrives
    /// meanwhile is honoured here. In a worker of a page that is cross-origin isolated it is so at
    /// every checkpoint, whether the event loop has its turn or not.
    pub async fn checkpoint(&self) {
        match &self.place {
            Place::Page { .. } => super::checkpoint::checkpoint().await,
            Place::Worker { call, .. } => worker::checkpoint(call).await,
        }
    }

    /// Whether the call is to stop, for a function that computes without awaiting. In a worker of
    /// a page that is cross-origin isolated this is so at once, elsewhere only after the event loop
    /// has had its turn. A function that is told so ends with [`Error::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        match &self.place {
            Place::Page { end, .. } => end.is_stop(),
            Place::Worker { call, .. } => call.cancelled(),
        }
    }

    /// Waits for the end of the call, and says whether that is a cancel: for a task that the handler
    /// has spawned, which a cancel does not drop. If the call has ended before, it says so at once.
    ///
    /// ```no_run
    /// use caphost::CallContext;
    ///
    /// fn stop_with(context: &CallContext, player: web_sys::AbortController) {
    ///     let context = context.clone();
    ///     wasm_bindgen_futures::spawn_local(async move {
    ///         if context.cancelled().await {
    ///             player.abort();
    ///         }
    ///     });
    /// }
    /// ```
    #[must_use = "a call that was not cancelled ends, too"]
    pub async fn cancelled(&self) -> bool {
        self.end().reached().await
    }

    /// A token that is cancelled with the call, for what knows those of tokio-util and no signals.
    /// Once a call has ended otherwise nothing cancels it any more; a task that only waits for that
    /// waits for ever, and one that shall end with the call takes [`CallContext::cancelled`]. To cancel
    /// it cancels no other one, and not the call.
    #[cfg(feature = "tokio-util")]
    pub fn cancellation_token(&self) -> Result<tokio_util::sync::CancellationToken, Error> {
        Ok(self.end().token())
    }

    fn end(&self) -> &End {
        match &self.place {
            Place::Page { end, .. } | Place::Worker { end, .. } => end,
        }
    }

    /// Reports progress to the agent, if it wants any. In a worker, and past the first 256 reports
    /// of a call, it is told of the newest once in a frame, and always of the last.
    pub fn progress(&self, progress: Progress) {
        match &self.place {
            Place::Page { host, key, .. } => {
                host.with(|state| state.progress(*key, progress.0, now()))
            }
            Place::Worker { call, .. } => call.progress(&progress.0),
        }
    }

    /// A signal that fires when the call is cancelled, for `fetch` and its like. Of a call that was
    /// cancelled before, it has fired.
    pub fn signal(&self) -> Result<AbortSignal, Error> {
        match &self.place {
            Place::Page { end, .. } => end.signal(),
            Place::Worker { call, .. } => Ok(call.signal()),
        }
    }

    /// Calls another capability of this host as a child: it is cancelled with this call, and its
    /// own end leaves this call alone. Dropping the future cancels the child. Of a child that has
    /// completed with data that is no `T` the error is [`Code::DECODE_FAILED`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        capability: &str,
        params: &impl Serialize,
        timeout: Option<Duration>,
    ) -> Result<T, Error> {
        let timeout = timeout.map(|it| it.as_secs_f64() * 1_000.0);
        let params = data::write(params)?;
        let data = match &self.place {
            Place::Page { host, key, .. } => {
                let id = CallId::random();
                let given = object();
                put(&given, "callId", id.as_str());
                put(&given, "params", params);
                let given = inspect::call(given, host.state.borrow().limits())?;
                let request = CallRequest {
                    id,
                    capability: capability.into(),
                    params: given,
                    timeout,
                    token: None,
                    bytes: 0,
                };
                let ask = |state: &mut State| state.call_from(*key, request, now());
                await_response(host, cancel_child, ask).await?
            }
            Place::Worker { call, .. } => worker::call(call, capability, &params, timeout).await?,
        };
        data::read("The call has completed", data)
    }

    /// Asks the agent, and waits for its answer's `data`. The question is withdrawn when the call
    /// is cancelled, or, in the page, the future dropped.
    pub async fn elicit<T: DeserializeOwned>(&self, request: &impl Serialize) -> Result<T, Error> {
        let request = data::write(request)?;
        let data = match &self.place {
            Place::Page { host, key, .. } => {
                let request = inspect::question(request, host.state.borrow().limits())?;
                let timeout = get(&request, "timeout").as_f64();
                let ask = |state: &mut State| state.elicit(*key, question(request, timeout), now());
                await_response(host, State::withdraw, ask).await?
            }
            Place::Worker { call, .. } => worker::elicit(call, &request).await?,
        };
        data::read("The agent has answered", data)
    }
}

async fn await_response(
    host: &Inner,
    take_back: fn(&mut State, u32),
    ask: impl FnOnce(&mut State) -> u32,
) -> Result<JsValue, Error> {
    let (sender, receiver) = oneshot::channel::<Response<JsValue>>();
    let key = ask(&mut host.state.borrow_mut());
    host.rust_calls.waiting.borrow_mut().insert(key, sender);
    let _asked = Asked {
        host,
        key,
        take_back,
    };
    host.drive();
    let response = receiver.await.map_err(|_| Error::cancelled())?;
    match response.outcome {
        Outcome::Completed(data) => Ok(data),
        Outcome::Failed(error) => Err(error),
        // A child that was cancelled by itself has not stopped its parent: it is an error of
        // the operation, which the parent may take or leave.
        Outcome::Cancelled(_) => Err(Error::new(
            Code::OPERATION_FAILED,
            "The call this one waited for was cancelled",
        )),
    }
}

/// A call or a question that its handler waits for. One that it waits for no longer, say because
/// another branch of a `select!` has won, is taken back.
struct Asked<'a> {
    host: &'a Inner,
    key: u32,
    take_back: fn(&mut State, u32),
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let waiting = self.host.rust_calls.waiting.borrow_mut().remove(&self.key);
        if waiting.is_some() {
            self.host.with(|state| (self.take_back)(state, self.key));
        }
    }
}

fn cancel_child(state: &mut State, key: u32) {
    let reason = Some("Nobody waits for the call any more".into());
    state.cancel_child(key, reason, now());
}
