//! The descriptions that a Rust app gives: of itself, of its capabilities, and of their progress.

use std::time::Duration;

use serde::Serialize;
use wasm_bindgen::JsValue;

use super::{params, sys};
use crate::web::object::{copy, get, object, put};
use crate::web::{Error, data, millis};

/// The app, as agents see it.
///
/// ```no_run
/// use caphost::App;
///
/// let app = App::new("my-app", "My app", "1.0.0").description("Edits pictures");
/// ```
#[derive(Debug)]
pub struct App(pub(super) JsValue);

/// A clone has its own copy of the description.
impl Clone for App {
    fn clone(&self) -> Self {
        App(copy(&self.0))
    }
}

impl App {
    /// `id` names the app to a gateway. `name` and `version` are for people.
    pub fn new(id: &str, name: &str, version: &str) -> Self {
        let app = object();
        put(&app, "id", id);
        put(&app, "name", name);
        put(&app, "version", version);
        App(app)
    }

    /// One sentence about the purpose of the app.
    pub fn description(self, description: &str) -> Self {
        put(&self.0, "description", description);
        self
    }
}

/// The description of a capability: the `Capability` object of ABP 0.1, and how many calls of the
/// capability may run at once.
///
/// ```no_run
/// use caphost::Capability;
///
/// let capability = Capability::new("image.resize")
///     .description("Makes a picture smaller")
///     .input_schema(r#"{ "type": "object", "properties": { "width": { "type": "integer" } } }"#)
///     .concurrency(2);
/// ```
#[derive(Debug)]
pub struct Capability {
    pub(super) name: String,
    options: JsValue,
    problem: Option<String>,
}

/// A clone has its own copy of the description.
impl Clone for Capability {
    fn clone(&self) -> Self {
        Capability {
            name: self.name.clone(),
            options: copy(&self.options),
            problem: self.problem.clone(),
        }
    }
}

impl Capability {
    /// `name` is in dot notation, such as `export.pdf`.
    pub fn new(name: &str) -> Self {
        Capability {
            name: name.into(),
            options: object(),
            problem: None,
        }
    }

    /// The name for people, such as `Export as PDF`.
    pub fn title(self, title: &str) -> Self {
        self.with("title", title.into())
    }

    /// The purpose of the capability, by which an agent chooses.
    pub fn description(self, description: &str) -> Self {
        self.with("description", description.into())
    }

    /// The JSON Schema of its parameters, as JSON text. Parameters are checked before the handler runs.
    pub fn input_schema(self, schema: &str) -> Self {
        self.with_json("inputSchema", schema)
    }

    /// The JSON Schema of its data, as JSON text.
    pub fn output_schema(self, schema: &str) -> Self {
        self.with_json("outputSchema", schema)
    }

    /// The JSON Schema of its parameters, as a value, such as `serde_json::json!({ … })`.
    pub fn input_schema_from(self, schema: &impl Serialize) -> Self {
        self.with_value("inputSchema", schema)
    }

    /// The JSON Schema of its data, as a value.
    pub fn output_schema_from(self, schema: &impl Serialize) -> Self {
        self.with_value("outputSchema", schema)
    }

    /// The JSON Schema of its parameters, made from their type. Needs the feature `schemars`.
    ///
    /// ```no_run
    /// use caphost::Capability;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Params {
    ///     /// Agents read this, too.
    ///     below: u32,
    /// }
    ///
    /// let capability = Capability::new("primes.count").input_schema_of::<Params>();
    /// ```
    #[cfg(feature = "schemars")]
    pub fn input_schema_of<P: schemars::JsonSchema>(self) -> Self {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_deserialize();
        self.input_schema_from(&settings.into_generator().into_root_schema_for::<P>())
    }

    /// The JSON Schema of its data, made from their type. Needs the feature `schemars`.
    #[cfg(feature = "schemars")]
    pub fn output_schema_of<T: schemars::JsonSchema>(self) -> Self {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        self.output_schema_from(&settings.into_generator().into_root_schema_for::<T>())
    }

    /// How many calls may run at once. The others wait their turn, and can be cancelled meanwhile.
    /// By default, any number runs at once.
    ///
    /// A call that was made, directly or indirectly, by a call of the same capability does not
    /// wait. The outer call waits for the inner one, so both would wait forever.
    pub fn concurrency(self, calls: u32) -> Self {
        self.with("concurrency", calls.into())
    }

    /// Whether the capability can be used right now. Default true.
    pub fn available(self, available: bool) -> Self {
        self.with("available", available.into())
    }

    /// Whether a call changes nothing: a hint for agents and their users. The hints are those of MCP.
    /// Nobody checks them. Clients of MCP take a capability without hints for one that may delete
    /// or overwrite something.
    ///
    /// ```no_run
    /// use caphost::Capability;
    ///
    /// let list = Capability::new("notes.list").read_only(true);
    /// let clear = Capability::new("notes.clear").destructive(true).idempotent(true);
    /// ```
    pub fn read_only(self, hint: bool) -> Self {
        self.with_hint("readOnlyHint", hint)
    }

    /// Whether a call may delete or overwrite something: a hint, as [`Capability::read_only`].
    pub fn destructive(self, hint: bool) -> Self {
        self.with_hint("destructiveHint", hint)
    }

    /// Whether a second call with the same parameters changes nothing more: a hint, as
    /// [`Capability::read_only`].
    pub fn idempotent(self, hint: bool) -> Self {
        self.with_hint("idempotentHint", hint)
    }

    /// Whether a call reaches others than the app itself, such as a search of the web: a hint, as
    /// [`Capability::read_only`].
    pub fn open_world(self, hint: bool) -> Self {
        self.with_hint("openWorldHint", hint)
    }

    /// Has calls wait until a person allows them: see [`Confirm`].
    ///
    /// ```no_run
    /// use caphost::{Capability, Confirm};
    ///
    /// let clear = Capability::new("notes.clear").confirm(Confirm::Always);
    /// ```
    pub fn confirm(self, confirm: Confirm) -> Self {
        self.with("confirm", confirm.as_str().into())
    }

    fn with_hint(self, key: &'static str, hint: bool) -> Self {
        let known = get(&self.options, "annotations");
        // A clone of this description keeps its own hints.
        let hints = if known.is_object() {
            copy(&known)
        } else {
            object()
        };
        put(&hints, key, hint);
        self.with("annotations", hints)
    }

    fn with(self, key: &'static str, value: JsValue) -> Self {
        put(&self.options, key, value);
        self
    }

    fn with_json(mut self, key: &'static str, text: &str) -> Self {
        match js_sys::JSON::parse(text) {
            Ok(value) => self.with(key, value),
            Err(_) => {
                self.problem = Some(format!("{}: {key} is no JSON", self.name));
                self
            }
        }
    }

    fn with_value(mut self, key: &'static str, value: &impl Serialize) -> Self {
        match data::write(value) {
            Ok(value) => self.with(key, value),
            Err(error) => {
                self.problem = Some(format!("{}: {key}: {}", self.name, error.message));
                self
            }
        }
    }

    pub(super) fn into_options(self) -> Result<JsValue, Error> {
        // The parameters of a call are always the members of one object.
        let kind = get(&get(&self.options, "inputSchema"), "type").as_string();
        let problem = self.problem.or_else(|| match kind?.as_str() {
            "object" => None,
            kind => Some(format!("{}: {}", self.name, params::no_object(a(kind)))),
        });
        match problem {
            Some(problem) => Err(Error::invalid_params(problem)),
            None => Ok(self.options),
        }
    }
}

/// A type of JSON Schema, in words.
fn a(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "boolean" => "a boolean",
        "array" => "an array",
        "null" => "nothing",
        other => other,
    }
}

/// Which calls of a capability wait until a person allows them. Such a call starts only after that.
///
/// The app asks if it shows an interface for that, such as `<cap-activity>` of the npm package, or
/// else the agent that has called. If nobody can be asked, the call is refused.
///
/// ```no_run
/// use caphost::{Capability, Confirm};
///
/// let send = Capability::new("mail.send").confirm(Confirm::Always);
/// let clear = Capability::new("notes.clear").destructive(true).confirm(Confirm::Destructive);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirm {
    /// Each call.
    Always,
    /// Each call, unless the hints say [`Capability::read_only`] or deny
    /// [`Capability::destructive`].
    Destructive,
}

impl Confirm {
    fn as_str(self) -> &'static str {
        match self {
            Confirm::Always => "always",
            Confirm::Destructive => "destructive",
        }
    }
}

/// The progress of a call, as its capability reports it: see
/// [`CallContext::progress`](crate::CallContext::progress). The caller gets a
/// [`ProgressInfo`](crate::ProgressInfo).
///
/// ```no_run
/// use caphost::{CallContext, Progress};
/// use std::time::Duration;
///
/// fn tell(context: &CallContext, done: usize, files: &[String]) {
///     let progress = Progress::new(done, files.len())
///         .stage("compressing")
///         .estimated_remaining(Duration::from_secs(3));
///     context.progress(progress);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "`CallContext::progress` sends it"]
pub struct Progress {
    done: f64,
    total: f64,
    stage: Option<String>,
    status: Option<String>,
    estimated_remaining: Option<Duration>,
}

impl Progress {
    /// `done` of `total`, in any unit.
    pub fn new(done: impl Amount, total: impl Amount) -> Self {
        Progress {
            done: done.number(),
            total: total.number(),
            stage: None,
            status: None,
            estimated_remaining: None,
        }
    }

    /// The current work, in a word or two.
    pub fn stage(mut self, stage: &str) -> Self {
        self.stage = Some(stage.into());
        self
    }

    /// The state of the work, in a phrase for people.
    pub fn status(mut self, status: &str) -> Self {
        self.status = Some(status.into());
        self
    }

    /// The estimated time until the end.
    pub fn estimated_remaining(mut self, time: Duration) -> Self {
        self.estimated_remaining = Some(time);
        self
    }

    /// The progress as it is sent. Built only here, as nobody has asked for most reports of
    /// handlers.
    pub(super) fn into_js(self) -> JsValue {
        let remaining = self.estimated_remaining.map(millis);
        let (stage, status) = (self.stage.as_deref(), self.status.as_deref());
        sys::progress(self.done, self.total, stage, status, remaining)
    }
}

/// A number of any numeric type of Rust: see [`Progress::new`].
///
/// ```no_run
/// use caphost::{Amount, Progress};
///
/// fn bytes(done: impl Amount, total: impl Amount) -> Progress {
///     Progress::new(done, total).status("copying")
/// }
///
/// bytes(1_024_u64, 4_096_usize);
/// bytes(0.5, 1);
/// ```
pub trait Amount: sealed::Sealed {
    /// The nearest number in JavaScript.
    fn number(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! amounts {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}

        impl Amount for $type {
            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}

amounts! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }
