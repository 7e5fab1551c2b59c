#![doc = include_str!("README.md")]
#![deny(missing_docs, missing_debug_implementations)]
#![forbid(unsafe_code)]

// The rules, which are no business of an app's; the gateway is built on them, too. `call` is one call's
// life, `offers` what a host offers (an app that forgets the feature `macros` is to hear that
// `capability` needs that, and not that this is a module), `session` the agents of a host, `agent` the caller's half.
// All of it is sans-IO: events in, actions out, time passed in as an argument.
#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub mod agent;
#[doc(hidden)]
pub mod call;
// What page and gateway both know of protocols.
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

#[cfg(feature = "web")]
#[doc(hidden)]
pub mod web;
#[cfg(feature = "web")]
pub use web::{
    Abortable, Aborted, Agent, Amount, App, Call, CallContext, CallError, CancelResponse,
    Capability, ChildCall, Connect, Error, HandlerEnd, Host, Observer, Progress, ProgressInfo,
    RunningCall, SessionEnd, Stats, WorkerModule, abortable, worker,
};

/// Makes a capability of a function: with its name, its documentation, and the JSON Schemas of its
/// types. It takes the parameters as one struct, and a [`CallContext`]; either may be left out.
///
/// What it returns is a `Result` with [`Error`], with an error that has `impl From<…> for Error`, whose
/// code it keeps, with any other [`std::error::Error`], or with a `JsValue`.
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
/// | Option | Unless it is given |
/// |---|---|
/// | `name = "primes.count"` | the name of the function |
/// | `description = "…"` | the documentation of the function |
/// | `concurrency = 2` | any number of calls run at once |
///
/// The function stays as it is. A type of the same name has
///
/// | Function | Does |
/// |---|---|
/// | `register(&host)` | has a host offer it; only of an `async fn` |
/// | `capability()` | gives the description, say for [`Host::register_worker`] |
/// | `serve()` | runs its calls in a worker, see [`worker`]; a `fn` may compute there without awaiting |
///
/// As it is a type, no other type and no crate in scope can have the name of the function.
///
/// The function has no state of its own. One that needs some, such as a signal of the framework or a
/// connection, takes it as a first argument of a plain `async fn`, and a closure hands it over. The
/// description may still be that of a function with the attribute:
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
/// An error of the app's own that keeps its code:
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
pub use web::attribute as __private;
