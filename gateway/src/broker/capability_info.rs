//! One capability that an app offers.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One capability, as the manifest shows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityInfo {
    /// Its name.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its parameters.
    pub input_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its data.
    pub output_schema: Option<Box<RawValue>>,
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
    pub(super) fn texts(&self) -> usize {
        let schemas = [&self.input_schema, &self.output_schema];
        let schemas = schemas.into_iter().flatten().map(|it| it.get().len());
        let texts = [&self.title, &self.description];
        let texts = texts.into_iter().flatten().map(String::len);
        self.name.len() + texts.sum::<usize>() + schemas.sum::<usize>()
    }
}

/// A name with `_` in place of everything but letters, digits, `_` and `-`. Every client takes such names.
pub fn plain(name: &str) -> impl Iterator<Item = char> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    name.chars()
        .map(move |it| if is_plain(it) { it } else { '_' })
}
