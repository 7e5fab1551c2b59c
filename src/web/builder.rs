//! What a Rust app describes: itself, its capabilities, and their progress.

use wasm_bindgen::JsValue;

use super::Error;
use super::object::{object, put};

/// The app, as agents see it.
#[derive(Clone, Debug)]
pub struct App(pub(super) JsValue);

impl App {
    /// `id` names the app to a gateway; `name` and `version` are for people.
    pub fn new(id: &str, name: &str, version: &str) -> Self {
        let app = object();
        put(&app, "id", id);
        put(&app, "name", name);
        put(&app, "version", version);
        App(app)
    }

    /// A sentence on what it is for.
    pub fn description(self, description: &str) -> Self {
        put(&self.0, "description", description);
        self
    }
}

/// A capability's description: the `Capability` object of ABP 0.1, and how many calls of it may
/// run at once.
#[derive(Clone, Debug)]
pub struct Capability {
    pub(super) name: String,
    pub(super) options: JsValue,
    pub(super) schema_error: Option<&'static str>,
}

impl Capability {
    /// `name` is in dot notation, such as `export.pdf`.
    pub fn new(name: &str) -> Self {
        Capability {
            name: name.into(),
            options: object(),
            schema_error: None,
        }
    }

    /// What it does, for an agent to choose by.
    pub fn description(self, description: &str) -> Self {
        self.with("description", description.into())
    }

    /// The JSON Schema of its parameters, as JSON text. They are checked before the handler runs.
    pub fn input_schema(self, schema: &str) -> Self {
        self.with_json("inputSchema", schema)
    }

    /// The JSON Schema of its data, as JSON text.
    pub fn output_schema(self, schema: &str) -> Self {
        self.with_json("outputSchema", schema)
    }

    /// How many calls may run at once; the others wait their turn and can be cancelled meanwhile.
    pub fn concurrency(self, calls: u32) -> Self {
        self.with("concurrency", calls.into())
    }

    /// Whether it can be used right now; true unless said otherwise.
    pub fn available(self, available: bool) -> Self {
        self.with("available", available.into())
    }

    fn with(self, key: &'static str, value: JsValue) -> Self {
        put(&self.options, key, value);
        self
    }

    fn with_json(mut self, key: &'static str, text: &str) -> Self {
        match js_sys::JSON::parse(text) {
            Ok(value) => self.with(key, value),
            Err(_) => {
                self.schema_error = Some(key);
                self
            }
        }
    }

    pub(super) fn into_options(self) -> Result<JsValue, Error> {
        match self.schema_error {
            Some(key) => Err(Error::invalid_params(format!(
                "{}: {key} is no JSON",
                self.name
            ))),
            None => Ok(self.options),
        }
    }
}

/// How far a call is: `ProgressInfo` without its `operationId`, which the host adds.
#[derive(Clone, Debug)]
pub struct Progress(pub(super) JsValue);

impl Progress {
    /// `done` of `total`, in any unit.
    pub fn new(done: f64, total: f64) -> Self {
        let info = object();
        put(&info, "progress", done);
        put(&info, "total", total);
        Progress(info)
    }

    /// What is being done, in a word or two.
    pub fn stage(self, stage: &str) -> Self {
        put(&self.0, "stage", stage);
        self
    }

    /// How it stands, in a phrase for people.
    pub fn status(self, status: &str) -> Self {
        put(&self.0, "status", status);
        self
    }

    /// Milliseconds left, as far as can be told.
    pub fn estimated_remaining(self, milliseconds: f64) -> Self {
        put(&self.0, "estimatedRemaining", milliseconds);
        self
    }
}
