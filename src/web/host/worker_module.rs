//! The module that the workers of a Rust app load.

use std::time::Duration;

use wasm_bindgen::prelude::*;

use crate::web::object::{copy, object, put};
use crate::web::{Error, failure, millis};

/// A module of the app for workers, and the number of these workers. [`crate::worker::serve`] sets
/// the handlers that run there.
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
    /// `url` is the URL of the glue of `wasm-bindgen --target web`, relative to the page.
    pub fn new(url: &str) -> Self {
        let options = object();
        put(&options, "type", "wasm");
        WorkerModule {
            url: url.into(),
            options,
        }
    }

    /// How many workers are kept: 1 to 64. Also how many calls may run at once, unless the
    /// capability says otherwise. Default 2.
    pub fn pool(self, workers: u32) -> Self {
        self.with("pool", workers)
    }

    /// Whether one more worker is kept in reserve, so that no call waits for a worker to start.
    /// Default true.
    pub fn warm(self, yes: bool) -> Self {
        self.with("warm", yes)
    }

    /// How long a call has to end before its worker is terminated. Default 50 ms.
    pub fn settle_grace(self, grace: Duration) -> Self {
        self.with("settleGrace", millis(grace))
    }

    /// The URL of this package's `worker.js`, for a bundler that does not keep it beside the glue.
    pub fn script(self, url: &str) -> Self {
        self.with("script", url)
    }

    /// Sets a function that runs in the page, and makes the final data from the worker's data. Use
    /// it for objects that only a page can make, or that would end with the worker, such as the URL
    /// of a Blob.
    pub fn finish(self, finish: impl Fn(JsValue) -> Result<JsValue, Error> + 'static) -> Self {
        let run = move |data| finish(data).map_err(|error| failure::error(&error.into_failure()));
        let run = Closure::<dyn Fn(JsValue) -> Result<JsValue, JsValue>>::new(run);
        self.with("finish", run.into_js_value())
    }

    fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        put(&self.options, key, value);
        self
    }
}

/// A clone has its own copy of the settings.
impl Clone for WorkerModule {
    fn clone(&self) -> Self {
        WorkerModule {
            url: self.url.clone(),
            options: copy(&self.options),
        }
    }
}
