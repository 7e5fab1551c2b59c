//! One capability that an app offers.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One capability, as the manifest shows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityInfo {
    /// Its name.
    pub name: String,
    /// Its name for people. Seldom there, and short in memory: an app may have many capabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Hints on what a call does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Which calls a person must allow: `always`, or `destructive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its parameters.
    pub input_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its data.
    pub output_schema: Option<Box<RawValue>>,
}

/// Hints of the app on what a call does, as MCP has them. Nobody checks them.
#[derive(Clone, Copy, Debug, Deserialize, Hash, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// The call changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The call may delete or overwrite something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same parameters changes nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The call reaches others than the app itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl PartialEq for CapabilityInfo {
    /// Schemas are text, and compared as they were written.
    fn eq(&self, other: &Self) -> bool {
        fn text(schema: &Option<Box<RawValue>>) -> Option<&str> {
            schema.as_deref().map(RawValue::get)
        }
        self.name == other.name
            && self.title == other.title
            && self.description == other.description
            && self.annotations == other.annotations
            && self.confirm == other.confirm
            && text(&self.input_schema) == text(&other.input_schema)
            && text(&self.output_schema) == text(&other.output_schema)
    }
}

impl CapabilityInfo {
    /// The name with `_` in place of everything but letters, digits, `_` and `-`.
    pub fn plain_name(&self) -> impl Iterator<Item = char> {
        plain(&self.name)
    }

    /// The size of its texts in bytes.
    pub(in crate::broker) fn texts(&self) -> usize {
        let schemas = [&self.input_schema, &self.output_schema];
        let schemas = schemas.into_iter().flatten().map(|it| it.get().len());
        let texts = [&self.title, &self.confirm].map(|it| it.as_deref());
        let texts = texts.into_iter().chain([self.description.as_deref()]);
        let texts = texts.flatten().map(str::len);
        self.name.len() + texts.sum::<usize>() + schemas.sum::<usize>()
    }
}

/// A name with `_` in place of everything but letters, digits, `_` and `-`. Every client takes such names.
pub fn plain(name: &str) -> impl Iterator<Item = char> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    name.chars()
        .map(move |it| if is_plain(it) { it } else { '_' })
}
