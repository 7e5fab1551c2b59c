//! The context of one call, for its Rust capability.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::AbortSignal;

use super::ask::await_response;
use super::builder::Progress;
use super::end::End;
use super::inner::{CallContext, Place, State};
use super::inspect;
use super::requests::question;
use super::sys::now;
use super::worker_call;
#[cfg(doc)]
use crate::call::Code;
use crate::web::object::get;
use crate::web::{Error, data};

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

    /// Lets the event loop run if about 8 ms have passed since it last ran. Otherwise it costs
    /// almost nothing. Put a checkpoint into every loop that may run long.
    ///
    /// # Cancellation
    /// A cancel that arrives while the event loop runs drops the future of the handler at the
    /// checkpoint: code after the checkpoint does not run, but drop guards do. In a worker of a
    /// page that is cross-origin isolated, every checkpoint sees a cancel, even if the checkpoint
    /// does not let the event loop run.
    pub async fn checkpoint(&self) {
        match &self.place {
            Place::Page { .. } => super::checkpoint::checkpoint().await,
            Place::Worker { call, .. } => worker_call::checkpoint(call).await,
        }
    }

    /// Whether the call must stop, for a function that computes without awaiting. A function that
    /// gets `true` ends with [`Error::cancelled`].
    ///
    /// In a worker of a page that is cross-origin isolated, this is true as soon as the call is
    /// cancelled. Elsewhere it is true only after the event loop has run, so it is never true
    /// within a function that does not await.
    pub fn is_cancelled(&self) -> bool {
        match &self.place {
            Place::Page { end, .. } => end.is_stop(),
            Place::Worker { call, .. } => call.cancelled(),
        }
    }

    /// Waits for the end of the call, and returns whether the call was cancelled. It is for a task
    /// that the handler has spawned, as a cancel does not drop such a task. If the call has already
    /// ended, it returns at once.
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

    /// A token that is cancelled when the call is cancelled, for code that takes tokens of
    /// tokio-util instead of signals. Cancelling the token cancels neither the call nor another
    /// token. Needs the feature `tokio-util`.
    ///
    /// If the call ends in another way, the token is not cancelled, and a task that waits for the
    /// token keeps waiting. A task that should end with the call awaits [`CallContext::cancelled`].
    ///
    /// # Errors
    /// None at present.
    #[cfg(feature = "tokio-util")]
    pub fn cancellation_token(&self) -> Result<tokio_util::sync::CancellationToken, Error> {
        Ok(self.end().token())
    }

    fn end(&self) -> &End {
        match &self.place {
            Place::Page { end, .. } | Place::Worker { end, .. } => end,
        }
    }

    /// Reports progress to the agent, if the agent asked for it. Otherwise a report costs almost
    /// nothing.
    ///
    /// The first 256 reports of a call are sent one by one. After those, and in a worker, only the
    /// newest report is sent every 16 ms. The last report before the end of the call is always
    /// sent.
    pub fn progress(&self, progress: Progress) {
        match &self.place {
            Place::Page { host, key, .. } => {
                // No report is built if nobody gets it.
                let told = host.state.borrow_mut().takes_progress(*key);
                if told {
                    host.with(|state| state.progress(*key, progress.into_js(), now()));
                }
            }
            Place::Worker { call, .. } => call.progress(&progress.into_js()),
        }
    }

    /// A signal that fires when the call is cancelled, for `fetch` and similar functions. If the
    /// call was already cancelled, the signal has already fired.
    ///
    /// # Errors
    /// [`Code::BROWSER_ERROR`] if there is no `AbortController`. Every browser of today has it.
    pub fn signal(&self) -> Result<AbortSignal, Error> {
        match &self.place {
            Place::Page { end, .. } => end.signal(),
            Place::Worker { call, .. } => Ok(call.signal()),
        }
    }

    /// Asks the agent a question, and waits for the `data` of its answer. `request` is any object
    /// that the agent understands, such as `json!({ "method": "elicitation/confirm", "message":
    /// "Overwrite the file?" })`. Its `timeout`, if it has one, is in milliseconds.
    ///
    /// # Errors
    /// [`Code::NOT_SUPPORTED`] if the agent takes no questions, [`Code::TIMEOUT`] if it does not
    /// answer in time, [`Code::DECODE_FAILED`] if its data cannot be read as `T`, or the code of
    /// the agent's own error.
    ///
    /// # Cancellation
    /// A cancel of the call withdraws the question. In the page, so does dropping the future.
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
            Place::Worker { call, .. } => worker_call::elicit(call, &request).await,
        };
        data::read("The agent has answered", answer.map_err(Error::of)?)
    }
}
