//! `convert.markdownToHtml`: CommonMark with tables, footnotes, strikethrough and task lists to HTML.
//!
//! A long text is parsed in sections of a few blocks. It is rendered and sanitised by top-level
//! block, and by item in a top-level list. A block of any length is one step. Finding the blocks of
//! a text with footnotes is also one step (natively about 12 ms per MB).

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

/// The most bytes of Markdown in one call.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The stages of the work.
pub const STAGES: Weights = &[("converting", 1)];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Converted`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

/// The parameters of a conversion.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Params {
    /// CommonMark text, at most [`MAX_BYTES`].
    pub markdown: String,
    /// The options.
    #[serde(default)]
    pub options: Options,
}

/// The options of a conversion.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether to remove scripts, event handlers, unsafe URLs and similar. On by default.
    pub sanitize: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { sanitize: true }
    }
}

/// The result of a conversion.
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
