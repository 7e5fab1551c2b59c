//! What the workers of a Rust app load.

use std::time::Duration;

use wasm_bindgen::prelude::*;

use super::object::{copy, object, put};
use super::{Error, perform};

/// A module of the app's that workers load, and how many of them there are. What runs there is said
/// with [`crate::worker::serve`].
///
/// ```no_run
/// use caphost::{Capability, Error, Host, WorkerModule};
/// use std::time::Duration;
///
/// fn offer(host: &Host) -> Result<(), Error> {
///     let module = WorkerModule::new("/dist/my_app.js")
///         .pool(4)
///         .settle_grace(Duration::from_millis(200));
///     host.register_worker(Capability::new("hash.file"), &module)
/// }
/// ```
#[derive(Debug)]
pub struct WorkerModule {
    pub(super) url: String,
    pub(super) options: JsValue,
}

impl WorkerModule {
    /// `url` is that of the glue of `wasm-bindgen --target web`, relative to the page.
    pub fn new(url: &str) -> Self {
        let options = object();
        put(&options, "type", "wasm");
        WorkerModule {
            url: url.into(),
            options,
        }
    }

    /// How many workers are kept, and, unless the capability says otherwise, how many calls may run
    /// at once: 1 to 64. 2 unless told otherwise.
    pub fn pool(self, workers: u32) -> Self {
        self.with("pool", workers)
    }

    /// Whether one worker more is kept in reserve, so that no call waits for one to start. It is
    /// unless told otherwise.
    pub fn warm(self, yes: bool) -> Self {
        self.with("warm", yes)
    }

    /// How long a call is given to end before its worker is terminated. 50 ms unless told otherwise.
    pub fn settle_grace(self, grace: Duration) -> Self {
        self.with("settleGrace", grace.as_secs_f64() * 1_000.0)
    }

    /// Where `worker.js` of this package is: for a bundler that does not keep it beside the glue.
    pub fn script(self, url: &str) -> Self {
        self.with("script", url)
    }

    /// Runs in the page, and makes the data of what comes from the worker: for what only a page can
    /// make, or what would end with the worker, such as the URL of a Blob.
    pub fn finish(self, finish: impl Fn(JsValue) -> Result<JsValue, Error> + 'static) -> Self {
        let run = move |data| finish(data).map_err(|error| perform::error(&error.into_failure()));
        let run = Closure::<dyn Fn(JsValue) -> Result<JsValue, JsValue>>::new(run);
        self.with("finish", run.into_js_value())
    }

    fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        put(&self.options, key, value);
        self
    }
}

/// A clone has settings of its own.
impl Clone for WorkerModule {
    fn clone(&self) -> Self {
        WorkerModule {
            url: self.url.clone(),
            options: copy(&self.options),
        }
    }
}
