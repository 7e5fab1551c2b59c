//! `export.archive`: a zip of CSV files, generated row by row.
//!
//! Rows are compressed as they are made, and handed on in parts of about 1 MiB, so memory does not
//! grow with the archive. The [`Sink`] decides where the parts go: in the browser, to a Blob.

mod plan;
mod random;
mod rows;
mod sink;
#[cfg(test)]
mod tests;
mod write;

pub use plan::{MAX_CSV_BYTES, Params};
pub use sink::Sink;

use crate::failure::Failure;
use crate::pace::Pace;
use crate::stages::Weights;
use plan::Plan;
use serde::Serialize;

/// The stages of the work.
pub const STAGES: Weights = &[("writing the file", 1)];

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = include_str!("input.schema.json");
/// JSON Schema of [`Archive`].
pub const OUTPUT_SCHEMA: &str = include_str!("output.schema.json");

const MIME_TYPE: &str = "application/zip";

/// A finished archive, by reference.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Archive<Whole> {
    /// Where the archive can be read.
    pub download_url: Whole,
    /// `application/zip`
    pub mime_type: &'static str,
    /// Bytes of the archive.
    pub size: u64,
    /// A name for the archive.
    pub filename: String,
    /// How many CSV files are in it.
    pub files: usize,
    /// How many rows the files have, without headings.
    pub rows: u64,
    /// Bytes of the CSV files.
    pub uncompressed_size: u64,
}

/// Generates an archive into `sink`. When the call is cancelled, `sink` is dropped with the future.
pub async fn run<S: Sink, P: Pace>(
    params: Params,
    sink: S,
    pace: &P,
) -> Result<Archive<S::Whole>, Failure> {
    let plan = Plan::new(&params)?;
    let (written, sink) = write::write(&plan, sink, pace).await?;
    Ok(Archive {
        download_url: sink.finish(MIME_TYPE)?,
        mime_type: MIME_TYPE,
        size: written.size,
        filename: plan.filename,
        files: plan.files,
        rows: written.rows,
        uncompressed_size: written.csv,
    })
}
