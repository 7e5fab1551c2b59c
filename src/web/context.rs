//! What a Rust capability is given for one call.

use std::fmt;
use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::ask::await_response;
use super::builder::Progress;
use super::child::ChildCall;
use super::end::End;
use super::inner::{Inner, State};
use super::object::get;
use super::receive::question;
use super::sys::now;
use super::worker::{self, WorkerCall};
use super::{Error, data, inspect};
use crate::call::CallId;
#[cfg(doc)]
use crate::call::Code;

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
///         .call("text.words", &serde_json::json!({ "pages": pages }))
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

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("call_id", &self.call_id())
            .field("in_worker", &matches!(self.place, Place::Worker { .. }))
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl CallContext {
    /// The call's id, unique in its session.
    pub fn call_id(&self) -> &str {
        self.id.as_str()
    }

    /// Gives the event loop its turn if about 8 ms have passed since it last had it, and costs
    /// next to nothing otherwise. Put one into every loop that may run long.
    ///
    /// # Cancellation
    /// A cancel that arrives while the event loop has its turn drops the future of the handler here: what
    /// stands after the checkpoint never runs, and drop guards do. In a worker of a page that is
    /// cross-origin isolated every checkpoint sees a cancel, also one that does not give up its turn.
    pub async fn checkpoint(&self) {
        match &self.place {
            Place::Page { .. } => super::checkpoint::checkpoint().await,
            Place::Worker { call, .. } => worker::checkpoint(call).await,
        }
    }

    /// Whether the call is to stop, for a function that computes without awaiting. One that is told so
    /// ends with [`Error::cancelled`].
    ///
    /// In a worker of a page that is cross-origin isolated this is true at once when the call is
    /// cancelled. Elsewhere it is true only after the event loop has had its turn, so never within a
    /// function that does not await.
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

    /// A token that is cancelled when the call is cancelled, for what takes tokens of tokio-util and no
    /// signals. To cancel the token cancels neither the call nor another token. Needs the feature
    /// `tokio-util`.
    ///
    /// When the call ends in another way the token is not cancelled, and a task that waits for it waits
    /// on. A task that is to end with the call awaits [`CallContext::cancelled`].
    ///
    /// # Errors
    /// None today.
    #[cfg(feature = "tokio-util")]
    pub fn cancellation_token(&self) -> Result<tokio_util::sync::CancellationToken, Error> {
        Ok(self.end().token())
    }

    fn end(&self) -> &End {
        match &self.place {
            Place::Page { end, .. } | Place::Worker { end, .. } => end,
        }
    }

    /// Reports progress to the agent, if it takes any. Where nobody does, a report costs next to nothing.
    ///
    /// The first 256 reports of a call are told one by one; in a worker, and after those, the newest
    /// is told every 16 ms. The last one before the end of the call is always told.
    pub fn progress(&self, progress: Progress) {
        match &self.place {
            Place::Page { host, key, .. } => {
                // Nothing is made of what nobody is told.
                let told = host.state.borrow_mut().takes_progress(*key);
                if told {
                    host.with(|state| state.progress(*key, progress.into_js(), now()));
                }
            }
            Place::Worker { call, .. } => call.progress(&progress.into_js()),
        }
    }

    /// A signal that fires when the call is cancelled, for `fetch` and its like. If the call was
    /// cancelled before, the signal has fired.
    ///
    /// # Errors
    /// [`Code::BROWSER_ERROR`] where there is no `AbortController`, as in no browser of today.
    pub fn signal(&self) -> Result<AbortSignal, Error> {
        match &self.place {
            Place::Page { end, .. } => end.signal(),
            Place::Worker { call, .. } => Ok(call.signal()),
        }
    }

    /// A call of another capability of this host, as a child of this call: it is made by `.await`, and
    /// cancelled with this call. Its own end leaves this call alone.
    ///
    /// The parameters are an object: a struct, or a `serde_json::json!({ … })`.
    pub fn call<T: DeserializeOwned>(
        &self,
        capability: &str,
        params: &impl Serialize,
    ) -> ChildCall<T> {
        ChildCall::new(self, capability, data::write(params))
    }

    /// Asks the agent, and waits for its answer's `data`. `request` is for the agent to understand, such
    /// as `json!({ "method": "elicitation/confirm", "message": "Overwrite the file?" })`; its `timeout`,
    /// if it has one, is milliseconds.
    ///
    /// # Errors
    /// [`Code::NOT_SUPPORTED`] where the agent takes no questions, [`Code::TIMEOUT`] where it does not
    /// answer in time, [`Code::DECODE_FAILED`] where it answers with data that is no `T`, and else what
    /// the agent says.
    ///
    /// # Cancellation
    /// The question is withdrawn when the call is cancelled, or, in the page, the future dropped.
    pub async fn elicit<T: DeserializeOwned>(&self, request: &impl Serialize) -> Result<T, Error> {
        let request = data::write(request)?;
        let answer = match &self.place {
            Place::Page { host, key, .. } => {
                let request = inspect::question(request, host.state.borrow().limits());
                let request = request.map_err(Error::of)?;
                let timeout = get(&request, "timeout").as_f64();
                let ask = |state: &mut State| state.elicit(*key, question(request, timeout), now());
                await_response(host, State::withdraw, ask).await
            }
            Place::Worker { call, .. } => worker::elicit(call, &request).await,
        };
        data::read("The agent has answered", answer.map_err(Error::of)?)
    }
}
