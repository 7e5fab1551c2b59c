//! `convert.markdownToHtml`: CommonMark with tables, footnotes, strikethrough and task lists to HTML.
//!
//! A long text is parsed section by section, each a few blocks, and rendered and sanitised top-level
//! block by top-level block, item by item in a top-level list. A block is one step however long it is,
//! and so is finding the blocks of a text with footnotes (natively about 12 ms per MB).

mod footnotes;
mod markup;
mod render;
mod sanitize;
mod sections;
#[cfg(test)]
mod tests;

pub(crate) use markup::OpenElements;
pub(crate) use render::render;

use crate::failure::Failure;
use crate::pace::Pace;
use crate::stages::Weights;
use serde::{Deserialize, Serialize};

/// Most bytes of Markdown in one call.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The stages of the work.
pub const STAGES: Weights = &[("converting", 1)];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Converted`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

/// What to convert.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// CommonMark text, at most [`MAX_BYTES`].
    pub markdown: String,
    /// How.
    #[serde(default)]
    pub options: Options,
}

/// How to convert.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether to remove scripts, event handlers, unsafe URLs and the like. On by default.
    pub sanitize: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { sanitize: true }
    }
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Converted {
    /// An HTML fragment: no `<html>`, no `<body>`.
    pub html: String,
}

/// Converts Markdown to HTML.
pub async fn run<P: Pace>(params: Params, pace: &P) -> Result<Converted, Failure> {
    let html = render(&params.markdown, params.options.sanitize, pace).await?;
    Ok(Converted { html })
}
