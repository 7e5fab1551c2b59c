//! How an agent connects.

use std::time::Duration;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Window};

use super::agent::Agent;
use super::sys;
#[cfg(feature = "host")]
use crate::web::host::Host;
use crate::web::names::in_rust;
use crate::web::object::{copy, object, put, texts_of as texts};
use crate::web::{AgentHandle, Error, millis, panics};

/// The options for connecting an agent. [`Agent`] has functions to connect without options.
///
/// Dropping the future before the connection is open stops connecting.
///
/// ```no_run
/// use caphost::{Agent, Connect, Error};
/// use std::time::Duration;
///
/// async fn connect(frame: &web_sys::Window) -> Result<Agent, Error> {
///     Connect::new()
///         .agent("my-agent", "1.0.0")
///         .timeout(Duration::from_secs(3))
///         .origin("https://app.example")
///         .to_window(frame)
///         .await
/// }
/// ```
#[derive(Debug)]
pub struct Connect(JsValue);

/// A clone has its own copy of the options.
impl Clone for Connect {
    fn clone(&self) -> Self {
        Connect(copy(&self.0))
    }
}

impl Default for Connect {
    fn default() -> Self {
        Connect(object())
    }
}

impl Connect {
    /// The default options.
    pub fn new() -> Self {
        Connect::default()
    }

    /// The name and version of the agent. Default: those of this package.
    pub fn agent(self, name: &str, version: &str) -> Self {
        let agent = object();
        put(&agent, "name", name);
        put(&agent, "version", version);
        self.with("agent", agent)
    }

    /// The names of the only capabilities that the agent can see and call. Default: all.
    pub fn requesting(self, capabilities: &[&str]) -> Self {
        self.with("requestedCapabilities", texts(capabilities))
    }

    /// The methods of the only questions that the app may ask, such as `elicitation/confirm`.
    /// Default: all, if [`Connect::on_elicitation`] is set.
    pub fn allowing(self, requests: &[&str]) -> Self {
        self.with("allowedRequests", texts(requests))
    }

    /// How long the app has to answer the first message. Default 10 s.
    pub fn timeout(self, time: Duration) -> Self {
        self.with_time("connectTimeout", time)
    }

    /// How long the app has to confirm a cancel, or to answer a call after its timeout. After that
    /// the outcome is unknown, and the response says so. Default 5 s.
    pub fn grace(self, time: Duration) -> Self {
        self.with_time("grace", time)
    }

    /// How long an app may be silent while calls are pending, before it counts as gone. Default 30
    /// s; [`Duration::MAX`] means forever.
    pub fn liveness(self, time: Duration) -> Self {
        match time {
            Duration::MAX => self.with("liveness", f64::INFINITY),
            time => self.with_time("liveness", time),
        }
    }

    /// The origin of the window to connect to. Default: the origin of this page.
    pub fn origin(self, origin: &str) -> Self {
        self.with("origin", origin)
    }

    /// The token that a gateway requires.
    pub fn token(self, token: &str) -> Self {
        self.with("token", token)
    }

    /// Sets the listener for the app's notifications. It gets an event and its data.
    pub fn on_notification(self, listener: impl FnMut(String, JsValue) + 'static) -> Self {
        let listener = Closure::<dyn FnMut(String, JsValue)>::new(listener);
        self.with("onNotification", listener.into_js_value())
    }

    /// Sets the function that answers the app's questions. It returns a promise of the data, for
    /// example of `wasm_bindgen_futures::future_to_promise`.
    pub fn on_elicitation(self, answer: impl FnMut(JsValue) -> Promise + 'static) -> Self {
        let answer = Closure::<dyn FnMut(JsValue) -> Promise>::new(answer);
        self.with("onElicitation", answer.into_js_value())
    }

    fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        put(&self.0, key, value);
        self
    }

    fn with_time(self, key: &str, time: Duration) -> Self {
        self.with(key, millis(time))
    }

    /// Like [`Agent::in_page`], with the same errors.
    #[cfg(feature = "host")]
    pub async fn in_page(self, host: &Host) -> Result<Agent, Error> {
        self.connect("page", &host.as_js()).await
    }

    /// Like [`Agent::over_port`], with the same errors.
    pub async fn over_port(self, port: &JsValue) -> Result<Agent, Error> {
        self.connect("port", port).await
    }

    /// Like [`Agent::to_window`], with the same errors.
    pub async fn to_window(self, window: &Window) -> Result<Agent, Error> {
        self.connect("window", window).await
    }

    /// Like [`Agent::through_gateway`], with the same errors.
    pub async fn through_gateway(self, url: &str) -> Result<Agent, Error> {
        self.connect("gateway", &url.into()).await
    }

    async fn connect(self, way: &str, to: &JsValue) -> Result<Agent, Error> {
        panics::notice();
        let class = AgentHandle::class();
        let controller = AbortController::new()?;
        let options = self.with("signal", controller.signal());
        let _given_up = GivenUp(controller);
        let agent = sys::connect(&class, way, to, &options.0).await;
        agent.map(Agent::of).map_err(in_rust)
    }
}

/// Stops connecting when it is dropped. Has no effect once the agent is connected.
struct GivenUp(AbortController);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The functions that connect with the default options.
impl Agent {
    /// Connects to a host of the same page, for example to test its capabilities.
    ///
    /// Cancels take effect at once: when a call has been dropped, the future of its handler has
    /// been dropped, too.
    ///
    /// # Errors
    /// [`Code::DISCONNECTED`](crate::Code::DISCONNECTED) if the host is closed,
    /// [`Code::RATE_LIMITED`](crate::Code::RATE_LIMITED) if the host has as many sessions as its
    /// [`Limits`](crate::Limits) allow.
    ///
    /// ```no_run
    /// use caphost::{Agent, App, CallContext, Capability, Code, Error, Host};
    ///
    /// async fn double(number: Number, _: CallContext) -> Result<u32, Error> {
    ///     Ok(2 * number.number)
    /// }
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Number {
    ///     number: u32,
    /// }
    ///
    /// // With `#[wasm_bindgen_test]`.
    /// async fn doubles() -> Result<(), Error> {
    ///     let host = Host::new(App::new("my-app", "My app", "1.0.0"))?;
    ///     host.register(Capability::new("double"), double)?;
    ///     let agent = Agent::in_page(&host).await?;
    ///     let doubled: u32 = agent.call("double", &serde_json::json!({ "number": 4 })).await?;
    ///     assert_eq!(doubled, 8);
    ///     let refused = agent.call::<u32>("double", &serde_json::json!({})).await;
    ///     assert_eq!(refused.unwrap_err().code(), &Code::INVALID_PARAMS);
    ///     Ok(())
    /// }
    /// ```
    #[cfg(feature = "host")]
    pub async fn in_page(host: &Host) -> Result<Agent, Error> {
        Connect::new().in_page(host).await
    }

    /// Connects over a `MessagePort`, a `Worker`, the inside of a worker, or an extension's port.
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`](crate::Code::INVALID_PARAMS) if the value is not a port,
    /// [`Code::TIMEOUT`](crate::Code::TIMEOUT) if no app answers within [`Connect::timeout`], or
    /// the code of the app's refusal.
    pub async fn over_port(port: &JsValue) -> Result<Agent, Error> {
        Connect::new().over_port(port).await
    }

    /// Connects to the app in a window of the page's own origin, such as the `content_window` of a
    /// frame. For another origin, see [`Connect::origin`].
    ///
    /// # Errors
    /// [`Code::TIMEOUT`](crate::Code::TIMEOUT) if no app answers within [`Connect::timeout`]; this
    /// is also the error if the window has another origin, or if the app does not accept the origin
    /// of this page. Otherwise the code of the app's refusal.
    pub async fn to_window(window: &Window) -> Result<Agent, Error> {
        Connect::new().to_window(window).await
    }

    /// Connects to an app through a gateway, for example at `ws://127.0.0.1:8787/abp?app=my-app`.
    ///
    /// # Errors
    /// [`Code::INVALID_PARAMS`](crate::Code::INVALID_PARAMS) if the URL is invalid,
    /// [`Code::DISCONNECTED`](crate::Code::DISCONNECTED) if nobody answers or the gateway requires
    /// another [`Connect::token`], or the code of the refusal of the gateway or the app.
    pub async fn through_gateway(url: &str) -> Result<Agent, Error> {
        Connect::new().through_gateway(url).await
    }
}
