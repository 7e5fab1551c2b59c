//! `export.pdf`: HTML or Markdown to a paginated PDF whose text can be selected.
//!
//! | module | what it knows |
//! |---|---|
//! | `parse` | HTML text to a tree, a few kB at a time |
//! | `walk`, `context`, `inline`, `rows` | the tree to blocks, one after the other |
//! | `block` | what a block is |
//! | `fonts` | characters to glyphs and widths |
//! | `lines` | text to lines |
//! | `flow`, `table`, `figure` | blocks to pages |
//! | `page` | marks on a page |
//! | `file`, `embed`, `outline`, `raster` | pages, fonts, headings and images to PDF objects |
//!
//! Supported are headings (also as bookmarks), paragraphs, bold, italic, code, links, lists,
//! quotes, rules, tables, images of `data:` URLs and page numbers. The fonts are DejaVu: Latin,
//! Greek, Cyrillic, Armenian, Georgian and many symbols. Other characters (Chinese, Japanese,
//! Korean, emoji) are drawn as a box, but can still be selected and found. Right-to-left text is
//! not reordered, and joined scripts are not shaped. Style sheets and external images are not
//! loaded.

mod block;
mod columns;
mod context;
mod embed;
mod face;
mod figure;
mod file;
mod flow;
mod fonts;
mod inline;
mod lines;
mod outline;
mod packed;
mod page;
mod parse;
mod raster;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod walk;

pub use page::PageSize;

use crate::binary::{Encoding, Payload};
use crate::failure::Failure;
use crate::markdown;
use crate::pace::Pace;
use crate::stages::Weights;
use flow::Flow;
use serde::{Deserialize, Serialize};
use walk::Walk;

/// The most bytes of HTML or Markdown in one call.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The stages of the work.
pub const STAGES: Weights = &[
    ("converting", 5),
    ("reading", 15),
    ("laying out", 60),
    ("writing pages", 15),
    ("embedding fonts", 5),
];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Document`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

/// The parameters of an export: `html` or `markdown`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Params {
    /// An HTML document or fragment.
    pub html: Option<String>,
    /// CommonMark text.
    pub markdown: Option<String>,
    /// The options.
    pub options: Options,
}

/// The options of an export.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// A4 by default.
    pub page_size: PageSize,
    /// The encoding of the file in the answer.
    pub encoding: Encoding,
    /// The document's title. By default, the title of the HTML or the first heading.
    pub title: Option<String>,
}

/// A finished document.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The PDF file.
    pub pdf: Payload,
    /// `application/pdf`
    pub mime_type: &'static str,
    /// How many pages the file has.
    pub page_count: usize,
    /// The encoding of the file in `pdf`.
    pub encoding: Encoding,
    /// The size of the PDF file in bytes.
    pub size: usize,
    /// A name for the file, from the title.
    pub filename: String,
}

/// Exports a document.
pub async fn run<P: Pace>(params: Params, pace: &P) -> Result<Document, Failure> {
    let Params {
        html,
        markdown,
        options,
    } = params;
    let html = match (html, markdown) {
        (None, None) => return Err(Failure::missing("html or markdown is needed")),
        (Some(_), Some(_)) => return Err(Failure::invalid("give html or markdown, not both")),
        (Some(html), None) => html,
        (None, Some(markdown)) => markdown::render(&markdown, false, pace).await?,
    };
    if html.len() > MAX_BYTES {
        return Err(Failure::invalid(format!(
            "html: {} bytes, at most {MAX_BYTES}",
            html.len()
        )));
    }
    let tree = parse::parse(&html, pace).await;
    drop(html);

    let mut flow = Flow::new(options.page_size)?;
    let mut walk = Walk::new(&tree.tree);
    loop {
        match walk.next() {
            walk::Next::Block(block) => flow.add(block, pace).await?,
            walk::Next::More => {}
            walk::Next::End => break,
        }
        pace.progress(walk.done(), walk.total(), "laying out");
        pace.checkpoint().await;
    }
    let title = options
        .title
        .or_else(|| walk.title())
        .or_else(|| flow.first_heading());
    parse::release(tree, pace).await;

    let filename = filename(title.as_deref());
    let (file, page_count) = flow.finish(title.as_deref(), pace).await?;
    Ok(Document {
        mime_type: "application/pdf",
        page_count,
        encoding: options.encoding,
        size: file.len(),
        filename,
        pdf: Payload::new(file, options.encoding, pace).await,
    })
}

fn filename(title: Option<&str>) -> String {
    let name: String = title
        .unwrap_or_default()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(12)
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(80)
        .collect();
    format!("{}.pdf", if name.is_empty() { "document" } else { &name })
}
