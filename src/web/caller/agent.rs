//! A session of an agent on an app.

use std::cell::OnceCell;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use futures::future::{FutureExt as _, LocalBoxFuture, Shared};
use js_sys::Promise;
use js_sys::futures::JsFuture;
use send_wrapper::SendWrapper;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};

use super::sys::JsAgent;
use crate::web::object::{object, put};
use crate::web::{CancelResponse, Error, data};

/// A session of an agent on an app. The agent calls the app's capabilities.
///
/// Cheap to clone. All clones are the same session. The session shuts down when the last clone and
/// the last call are dropped. Like a [`Host`](crate::Host), an agent is `Send` and `Sync`, but
/// stays in the thread that made it.
///
/// ```no_run
/// use caphost::{Agent, Error, Host};
/// use std::time::Duration;
///
/// async fn count(host: &Host) -> Result<u32, Error> {
///     let agent = Agent::in_page(host).await?;
///     let params = serde_json::json!({ "below": 100 });
///     let primes: u32 = agent
///         .call("primes.count", &params)
///         .with_timeout(Duration::from_secs(5))
///         .await?;
///     Ok(primes)
/// }
/// ```
#[derive(Clone)]
pub struct Agent(SendWrapper<Rc<Session>>);

/// Clones are equal, as all clones are the same session.
impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("session_id", &self.session_id())
            .finish_non_exhaustive()
    }
}

struct Session {
    js: JsAgent,
    /// Made once somebody waits for the end: a promise holds its listener until the promise
    /// settles.
    ended: OnceCell<Shared<LocalBoxFuture<'static, SessionEnd>>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        let params = object();
        put(&params, "reason", "The agent was dropped");
        let _ = self.js.shutdown(&params);
    }
}

/// How a session ended.
///
/// ```no_run
/// use caphost::{Agent, SessionEnd};
///
/// async fn follow(agent: &Agent) {
///     match agent.closed().await {
///         SessionEnd::Shutdown => {}
///         SessionEnd::Disconnected => web_sys::console::log_1(&"The app is gone".into()),
///         _ => web_sys::console::log_1(&"Reload the page".into()),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The agent shut the session down.
    Shutdown,
    /// The app is gone.
    Disconnected,
    /// The agent itself has failed.
    Failed,
}

impl SessionEnd {
    async fn of(closed: Promise) -> Self {
        let how = closed.await.unwrap_or_default();
        match how.as_string().as_deref() {
            Some("shutdown") => SessionEnd::Shutdown,
            Some("disconnected") => SessionEnd::Disconnected,
            _ => SessionEnd::Failed,
        }
    }
}

impl Agent {
    pub(super) fn of(js: JsValue) -> Self {
        let (js, ended) = (js.unchecked_into(), OnceCell::new());
        Agent(SendWrapper::new(Rc::new(Session { js, ended })))
    }

    pub(super) fn js(&self) -> &JsAgent {
        &self.0.js
    }

    /// Cancels a call of this session by its id. The cancel has been sent when this function
    /// returns: you need not await the future, which gives the confirmation. `reason` is for logs
    /// and the capability.
    ///
    /// It does not fail: if the app does not answer, [`CancelResponse::error`] says so.
    pub fn cancel(
        &self,
        call_id: &str,
        reason: Option<&str>,
    ) -> impl Future<Output = CancelResponse> + use<> + 'static {
        let answer = JsFuture::from(self.js().cancel(call_id, reason));
        let agent = self.clone();
        async move {
            // This promise does not reject.
            let response = answer.await.unwrap_or_default();
            drop(agent);
            CancelResponse::read(&response)
        }
    }

    /// The app's capabilities: `Capability` objects with names, descriptions and schemas. `T` may
    /// be a struct with the fields that you need, or a `serde_json::Value`.
    ///
    /// # Errors
    /// [`Code::TIMEOUT`](crate::Code::TIMEOUT) or [`Code::DISCONNECTED`](crate::Code::DISCONNECTED)
    /// if the app does not answer, [`Code::NOT_INITIALIZED`](crate::Code::NOT_INITIALIZED) once the
    /// session was shut down, [`Code::DECODE_FAILED`](crate::Code::DECODE_FAILED) if its
    /// answer cannot be read as `T`.
    pub async fn list_capabilities<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        data::read("The app has answered", self.js().list_capabilities().await?)
    }

    /// The id of the session; `None` once it is over.
    pub fn session_id(&self) -> Option<String> {
        self.js().session_id()
    }

    /// Waits for the end of the session. Dropping the future does not end the session.
    pub async fn closed(&self) -> SessionEnd {
        let ended = || SessionEnd::of(self.js().closed()).boxed_local().shared();
        self.0.ended.get_or_init(ended).clone().await
    }

    /// Ends the session: the app cancels the calls in flight. No call is pending when the future
    /// completes. The session also ends if the future is dropped.
    pub async fn shutdown(&self) {
        // This promise does not reject.
        let _ = self.js().shutdown(&object()).await;
    }
}
