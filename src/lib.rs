#![doc = include_str!("README.md")]
#![deny(missing_docs, missing_debug_implementations)]
#![forbid(unsafe_code)]

// The rules. Apps do not use these modules directly; the gateway also builds on them. `call` is the
// life of one call. `offers` holds the capabilities of a host (it is not called `capability`, so
// that an app without the feature `macros` gets the error that `capability` needs that feature, and
// not that it is a module). `session` holds the agents of a host, `agent` the caller's half. All of
// it is sans-IO: events in, actions out, time passed in as an argument.
#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub mod agent;
#[doc(hidden)]
pub mod call;
// The protocol rules that the page and the gateway share.
#[doc(hidden)]
pub mod dialect;
#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub mod offers;
#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub mod session;

pub use call::{Code, OwnCode, Stop};
pub use session::Limits;

#[cfg(feature = "page")]
#[doc(hidden)]
pub mod web;
#[cfg(feature = "host")]
pub use web::host::{
    Amount, App, CallContext, Capability, ChildCall, Confirm, Host, Observer, Progress, Stats,
    WorkerModule, worker,
};
#[cfg(feature = "page")]
pub use web::{Abortable, Aborted, CallError, CancelResponse, Error, HandlerEnd, abortable};
#[cfg(feature = "agent")]
pub use web::{Agent, Call, Connect, ProgressInfo, RunningCall, SessionEnd};

/// Makes a capability of a function: with its name, its documentation, and the JSON Schemas of its
/// types. The function takes the parameters as one struct, and a [`CallContext`]. Either may be
/// left out.
///
/// The function returns a `Result`. Its error is an [`Error`]; a type with `impl From<…> for
/// Error`, which keeps its code; any other [`std::error::Error`]; or a `JsValue`.
///
/// ```no_run
/// use caphost::{App, CallContext, Error, Host, capability};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Below {
///     /// Primes below this are counted.
///     below: u32,
/// }
///
/// /// Counts the primes below a number.
/// #[capability(name = "primes.count", concurrency = 2)]
/// async fn count_primes(Below { below }: Below, context: CallContext) -> Result<u32, Error> {
///     let mut primes = 0;
///     for n in 2..below {
///         context.checkpoint().await;
///         primes += u32::from((2..n).take_while(|d| d * d <= n).all(|d| n % d != 0));
///     }
///     Ok(primes)
/// }
///
/// fn offer() -> Result<Host, Error> {
///     let host = Host::new(App::new("my-app", "My app", "1.0.0"))?;
///     count_primes::register(&host)?;
///     Ok(host)
/// }
/// ```
///
/// | Option | Default |
/// |---|---|
/// | `name = "primes.count"` | the name of the function |
/// | `title = "Count primes"` | none |
/// | `description = "…"` | the documentation of the function |
/// | `concurrency = 2` | any number of calls run at once |
/// | `confirm = "always"` or `"destructive"` | no call waits for a person, see [`Confirm`] |
/// | `read_only = true`, `destructive = false`, `idempotent = true`, `open_world = false` | no hint, see [`Capability::read_only`] |
///
/// The function itself does not change. A type of the same name has these functions:
///
/// | Function | Does |
/// |---|---|
/// | `register(&host)` | registers the capability with a host; only for an `async fn` |
/// | `capability()` | returns the description, for example for [`Host::register_worker`] |
/// | `serve()` | runs the calls of the capability in a worker, see [`worker`]; a plain `fn` may compute there without awaiting |
///
/// The name of the function is now also a type, so no other type or crate in scope may have that
/// name.
///
/// The function has no state of its own. A capability that needs state, such as a signal of the
/// framework or a connection, is a plain `async fn` with the state as its first argument, and a
/// closure that passes the state. A function with the attribute may still supply the description:
///
/// ```no_run
/// use caphost::{CallContext, Error, Host, capability};
/// use std::cell::RefCell;
/// use std::rc::Rc;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Note {
///     text: String,
/// }
///
/// /// Adds a note, and gives how many there are.
/// #[capability(name = "notes.add")]
/// async fn add_note(note: Note) -> Result<usize, Error> {
///     Err(Error::other(format!("{} has no place", note.text))) // where there is no state
/// }
///
/// fn offer(host: &Host, notes: Rc<RefCell<Vec<String>>>) -> Result<(), Error> {
///     host.register(add_note::capability(), async move |note: Note, _: CallContext| {
///         notes.borrow_mut().push(note.text);
///         Ok(notes.borrow().len())
///     })
/// }
/// ```
///
/// An error of the app that keeps its code:
///
/// ```no_run
/// use caphost::{Code, Error, capability};
///
/// enum SaveError {
///     TooLarge(usize),
///     Disk(std::io::Error),
/// }
///
/// impl From<SaveError> for Error {
///     fn from(error: SaveError) -> Self {
///         match error {
///             SaveError::TooLarge(most) => Error::new("TOO_LARGE", format!("At most {most} bytes")),
///             SaveError::Disk(error) => Error::new(Code::OPERATION_FAILED, error.to_string()),
///         }
///     }
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct File {
///     text: String,
/// }
///
/// #[capability(name = "file.save")]
/// async fn save(file: File) -> Result<usize, SaveError> {
///     match file.text.len() {
///         size if size > 1_000_000 => Err(SaveError::TooLarge(1_000_000)),
///         size => Ok(size),
///     }
/// }
/// ```
#[cfg(feature = "macros")]
pub use caphost_macros::capability;

#[cfg(feature = "macros")]
#[doc(hidden)]
pub use web::host::attribute as __private;
