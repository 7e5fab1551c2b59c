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

use super::answer::CancelResponse;
use super::sys::JsAgent;
use crate::web::object::{object, put};
use crate::web::{Error, data};

/// A session of an agent on an app: it calls the app's capabilities.
///
/// Cheap to clone; all clones are one session, which is shut down when the last of them and the last
/// call is dropped. Like a [`Host`](crate::Host) it is `Send` and `Sync`, and stays in the thread that has made it.
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

/// Clones are equal, as they are one session.
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
    /// Once somebody waits for it: what waits for a promise is held until that settles.
    ended: OnceCell<Shared<LocalBoxFuture<'static, SessionEnd>>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        let params = object();
        put(&params, "reason", "The agent was dropped");
        let _ = self.js.shutdown(&params);
    }
}

/// How a session has ended.
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
    /// It was shut down by the agent.
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

    /// Cancels a call of this session by its id. The cancel has been sent when this returns: the future,
    /// which gives the confirmation, need not be awaited. `reason` is for logs and the capability.
    ///
    /// It does not fail: where the app does not answer, [`CancelResponse::error`] says so.
    pub fn cancel(
        &self,
        call_id: &str,
        reason: Option<&str>,
    ) -> impl Future<Output = CancelResponse> + use<> + 'static {
        let answer = JsFuture::from(self.js().cancel(call_id, reason));
        let agent = self.clone();
        async move {
            // It does not reject.
            let response = answer.await.unwrap_or_default();
            drop(agent);
            CancelResponse::read(&response)
        }
    }

    /// What the app offers: `Capability` objects with names, descriptions and schemas. `T` may be a
    /// struct of what is wanted of them, or a `serde_json::Value`.
    ///
    /// # Errors
    /// [`Code::TIMEOUT`](crate::Code::TIMEOUT) or [`Code::DISCONNECTED`](crate::Code::DISCONNECTED) where
    /// the app does not answer, [`Code::DECODE_FAILED`](crate::Code::DECODE_FAILED) where it answers with
    /// what is no `T`.
    pub async fn list_capabilities<T: DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        data::read("The app has answered", self.js().list_capabilities().await?)
    }

    /// The id of the session; `None` once it is over.
    pub fn session_id(&self) -> Option<String> {
        self.js().session_id()
    }

    /// Waits for the end of the session. To drop the future ends nothing.
    pub async fn closed(&self) -> SessionEnd {
        let ended = || SessionEnd::of(self.js().closed()).boxed_local().shared();
        self.0.ended.get_or_init(ended).clone().await
    }

    /// Ends the session: the app cancels what is in flight. No call is pending when this has ended. The
    /// session ends as well if the future is dropped.
    pub async fn shutdown(&self) {
        // It does not reject.
        let _ = self.js().shutdown(&object()).await;
    }
}
