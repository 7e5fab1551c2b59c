//! The content of an archive, from its parameters.

use super::rows::Table;
use crate::failure::Failure;
use serde::Deserialize;

/// The most bytes of CSV in one archive: 500 MB.
pub const MAX_CSV_BYTES: u64 = 500_000_000;

const MAX_FILES: usize = 100;
const MAX_COLUMNS: usize = 64;
const DEFAULT_ROWS: u64 = 100_000;

/// The parameters of an archive. Its size is given by `rows` or by `megabytes`, not both.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Params {
    /// How many rows all files have together; 100 000 unless `megabytes` is given.
    pub rows: Option<u64>,
    /// How many MB (1 000 000 bytes) of CSV all files have together.
    pub megabytes: Option<f64>,
    /// How many CSV files there are, 1 to 100; 1 by default.
    pub files: Option<usize>,
    /// How many columns each file has, 1 to 64; 8 by default.
    pub columns: Option<usize>,
    /// The seed. The same seed gives the same archive; 1 by default.
    pub seed: Option<u64>,
    /// A name for the archive; `export.zip` by default.
    pub filename: Option<String>,
}

/// The amount at which a file is complete.
#[derive(Debug, Clone, Copy)]
pub enum Amount {
    Rows(u64),
    Bytes(u64),
}

/// Checked parameters.
pub struct Plan {
    /// The amount of all files together.
    pub amount: Amount,
    pub files: usize,
    pub columns: usize,
    pub seed: u64,
    pub filename: String,
}

impl Plan {
    pub fn new(params: &Params) -> Result<Self, Failure> {
        let files = within("files", params.files.unwrap_or(1), MAX_FILES)?;
        let columns = within("columns", params.columns.unwrap_or(8), MAX_COLUMNS)?;
        let seed = params.seed.unwrap_or(1);
        let amount = match (params.rows, params.megabytes) {
            (Some(_), Some(_)) => {
                return Err(Failure::invalid(
                    "give the size by rows or by megabytes, not both",
                ));
            }
            (rows, None) => Amount::Rows(rows.unwrap_or(DEFAULT_ROWS)),
            (None, Some(megabytes)) => Amount::Bytes(bytes(megabytes)?),
        };
        if let Amount::Rows(rows) = amount {
            let most = MAX_CSV_BYTES / Table::new(columns, seed).bytes_per_row();
            if rows > most {
                return Err(Failure::invalid(format!(
                    "rows: {rows}, but {most} rows of {columns} columns are the {} MB allowed",
                    MAX_CSV_BYTES / 1_000_000
                )));
            }
        }
        let filename = params
            .filename
            .clone()
            .unwrap_or_else(|| "export.zip".into());
        Ok(Self {
            amount,
            files,
            columns,
            seed,
            filename,
        })
    }
}

fn within(name: &str, value: usize, most: usize) -> Result<usize, Failure> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(Failure::invalid(format!(
        "{name}: {value}, must be 1 to {most}"
    )))
}

fn bytes(megabytes: f64) -> Result<u64, Failure> {
    let bytes = megabytes * 1e6;
    if bytes > 0.0 && bytes <= MAX_CSV_BYTES as f64 {
        return Ok(bytes as u64);
    }
    Err(Failure::invalid(format!(
        "megabytes: {megabytes}, must be above 0 and at most {}",
        MAX_CSV_BYTES / 1_000_000
    )))
}
