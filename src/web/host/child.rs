//! A call that a capability makes: its parameters and options, and the wait for its answer.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use super::ask::await_response;
use super::inner::{CallContext, Place, State};
use super::sys::now;
use super::{inspect, worker_call};
use crate::session::CallRequest;
use crate::web::object::{object, put};
use crate::web::{Error, data, ids, millis};

/// A call of another capability of the same host, made by a capability. Created with
/// [`CallContext::call`], and sent by `.await`.
///
/// ```no_run
/// use caphost::{CallContext, Error};
/// use serde_json::json;
/// use std::time::Duration;
///
/// async fn title(text: String, context: CallContext) -> Result<String, Error> {
///     let words: Vec<String> = context
///         .call("text.words", &json!({ "text": text }))
///         .with_timeout(Duration::from_secs(2))
///         .await?;
///     Ok(words.into_iter().take(5).collect::<Vec<_>>().join(" "))
/// }
/// ```
///
/// # Errors
/// The error of the child, with its code. [`Code::OPERATION_FAILED`](crate::Code::OPERATION_FAILED)
/// if the child was cancelled: the capability that made it goes on.
/// [`Code::DECODE_FAILED`](crate::Code::DECODE_FAILED) if the child completed with data that cannot
/// be read as `T`. [`Code::INVALID_PARAMS`](crate::Code::INVALID_PARAMS) if the parameters cannot
/// be sent.
///
/// # Cancellation
/// Dropping the future cancels the child. So does the end of a `select!` or
/// [`abortable`](crate::abortable) around it, and so does a cancel of the capability itself.
#[must_use = "a call is made by `.await`"]
pub struct ChildCall<T> {
    context: CallContext,
    capability: String,
    params: Result<JsValue, Error>,
    timeout: Option<Duration>,
    data: PhantomData<fn() -> T>,
}

impl CallContext {
    /// A call of another capability of this host, as a child of this call. `.await` makes the call,
    /// and a cancel of this call cancels it. The end of the child does not end this call.
    ///
    /// The parameters are an object: a struct, or a `serde_json::json!({ … })`.
    pub fn call<T: DeserializeOwned>(
        &self,
        capability: &str,
        params: &impl Serialize,
    ) -> ChildCall<T> {
        ChildCall {
            context: self.clone(),
            capability: capability.into(),
            params: data::write(params),
            timeout: None,
            data: PhantomData,
        }
    }
}

impl<T> ChildCall<T> {
    /// Cancels the child if it takes longer.
    pub fn with_timeout(mut self, time: Duration) -> Self {
        self.timeout = Some(time);
        self
    }
}

impl<T> fmt::Debug for ChildCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildCall")
            .field("capability", &self.capability)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for ChildCall<T> {
    type Output = Result<T, Error>;
    type IntoFuture = LocalBoxFuture<'static, Result<T, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let timeout = self.timeout.map(millis);
            let (capability, params) = (self.capability, self.params?);
            let answer = match &self.context.place {
                Place::Page { host, key, .. } => {
                    let id = ids::random();
                    let given = object();
                    put(&given, "callId", id.as_str());
                    put(&given, "params", params);
                    let given = inspect::call(given, host.state.borrow().limits());
                    let request = CallRequest {
                        id,
                        capability,
                        params: given.map_err(Error::of)?,
                        timeout,
                        token: None,
                        bytes: 0,
                    };
                    let ask = |state: &mut State| state.call_from(*key, request, now());
                    await_response(host, cancel_child, ask).await
                }
                Place::Worker { call, .. } => {
                    worker_call::call(call, &capability, &params, timeout).await
                }
            };
            data::read("The call has completed", answer.map_err(Error::of)?)
        })
    }
}

fn cancel_child(state: &mut State, key: u32) {
    let reason = Some("Nobody waits for the call any more".into());
    state.cancel_child(key, reason, now());
}
