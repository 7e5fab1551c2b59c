//! One host: its state, the JavaScript objects that belong to it, and the contexts of its calls.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::JsHost;
use super::end::{End, Outcome};
use super::rust_calls::RustCalls;
use super::sys::{Running, Shell, Timeline};
use super::worker_call::WorkerCall;
use crate::call::CallId;
use crate::session::{HostState, Limits};
use crate::web::handles::{Handles, Table};

pub(super) type LocalFuture = Pin<Box<dyn Future<Output = Outcome>>>;

/// Starts a call of that key, with the parameters as JavaScript gave them.
///
/// The code for capabilities in Rust is reached only through what `executor::handler` makes: a
/// module whose app is in JavaScript does not contain that code.
pub(super) type RustHandler = Rc<dyn Fn(&RustCalls, u32, CallId, JsValue)>;

/// The code that runs a capability.
#[derive(Clone)]
pub(super) enum Handler {
    Js(JsValue),
    Rust(RustHandler),
}

pub(super) type State = HostState<JsValue, Handler>;

thread_local! {
    static TABLE: Table<Inner> = const { Table::new() };
}

pub(super) static HOSTS: Handles<Inner> = Handles(&TABLE);

pub(super) struct Inner {
    pub state: RefCell<State>,
    /// The host object of an app in JavaScript.
    pub js: JsHost,
    /// Performs the actions of the core.
    pub shell: Shell,
    pub running: Running,
    pub timeline: Timeline,
    pub rust_calls: RustCalls,
    /// The time for which the shell was last asked to call back.
    pub armed: Cell<f64>,
    /// How many futures are being dropped, or will be dropped at the end of their current poll. The
    /// host sends nothing before all of them have been dropped.
    pub dropping: Cell<u32>,
    /// How many loops on the stack perform actions.
    pub loops: Cell<u32>,
}

impl Inner {
    /// Makes a host and returns its number. The host lives until the number is released. `class` is
    /// [`super::HostHandle`] in JavaScript. `app` is the app's description of itself, already
    /// checked.
    pub fn make(class: &JsValue, app: &JsValue, limits: Limits) -> u32 {
        let (depth, size) = (limits.depth as f64, limits.message_bytes as f64);
        HOSTS.add(|key| {
            let shell = Shell::new(class, key, app, depth, size);
            Inner {
                state: RefCell::new(State::new(limits)),
                js: JsHost::new(&shell),
                running: shell.running(),
                timeline: shell.timeline(),
                shell,
                rust_calls: RustCalls::new(key),
                armed: Cell::new(f64::INFINITY),
                dropping: Cell::new(0),
                loops: Cell::new(0),
            }
        })
    }
}

/// One call, as its handler sees it.
///
/// A handler needs no code for cancellation: a cancel drops the handler's future and everything the
/// future holds. [`CallContext::signal`] passes the cancel on to JavaScript, and
/// [`CallContext::checkpoint`] lets a cancel arrive during a long computation.
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
    /// In the page, beside its host.
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
