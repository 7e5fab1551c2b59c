//! Turns rows into CSV, compresses the CSV, and hands it on in parts, batch by batch.

use super::plan::{Amount, Plan};
use super::rows::Table;
use super::sink::Sink;
use crate::failure::Failure;
use crate::pace::Pace;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::rc::Rc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Bytes of CSV between two checkpoints: about 1 ms of work natively, and a few milliseconds in
/// wasm.
pub const BATCH: usize = 32 * 1024;

/// Bytes of the archive in one part.
const PART: usize = 1024 * 1024;

/// The compression level. At this level CSV already shrinks to about a fifth; higher levels mostly
/// cost time.
const LEVEL: i64 = 2;

/// The amounts that were written.
#[derive(Default)]
pub struct Written {
    pub size: u64,
    pub rows: u64,
    pub csv: u64,
}

/// The end of the archive that was not handed on yet.
#[derive(Clone, Default)]
struct Tail(Rc<RefCell<Vec<u8>>>);

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tail {
    /// Hands on the waiting bytes if there are at least `least`.
    fn hand_on(
        &self,
        least: usize,
        sink: &mut impl Sink,
        written: &mut Written,
    ) -> Result<(), Failure> {
        let mut tail = self.0.borrow_mut();
        if !tail.is_empty() && tail.len() >= least {
            sink.append(&tail)?;
            written.size += tail.len() as u64;
            tail.clear();
        }
        Ok(())
    }
}

pub async fn write<S: Sink, P: Pace>(
    plan: &Plan,
    mut sink: S,
    pace: &P,
) -> Result<(Written, S), Failure> {
    let mut written = Written::default();
    let tail = Tail::default();
    let mut zip = ZipWriter::new_stream(tail.clone());
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL));
    for file in 0..plan.files {
        let mut table = Table::new(plan.columns, plan.seed.wrapping_add((file as u64) << 32));
        zip.start_file(format!("orders-{:03}.csv", file + 1), options)
            .map_err(failed)?;
        let mut batch = csv_writer();
        batch.write_record(table.headings()).map_err(failed)?;
        loop {
            let more = fill(&mut batch, &mut table, &mut written, plan, file)?;
            let bytes = batch.into_inner().map_err(failed)?;
            written.csv += bytes.len() as u64;
            zip.write_all(&bytes).map_err(failed)?;
            tail.hand_on(PART, &mut sink, &mut written)?;
            report(&written, plan, pace);
            pace.checkpoint().await;
            if !more {
                break;
            }
            batch = csv_writer();
        }
    }
    zip.finish().map_err(failed)?;
    tail.hand_on(0, &mut sink, &mut written)?;
    Ok((written, sink))
}

/// Writes rows until the batch is full or the file is complete. Returns whether the file needs
/// more.
fn fill(
    batch: &mut csv::Writer<Vec<u8>>,
    table: &mut Table,
    written: &mut Written,
    plan: &Plan,
    file: usize,
) -> Result<bool, Failure> {
    // Each file takes its share of what is left, so the sum is the requested amount.
    let share = |whole: u64| whole * (file as u64 + 1) / plan.files as u64;
    while batch.get_ref().len() < BATCH {
        let complete = match plan.amount {
            Amount::Rows(rows) => written.rows >= share(rows),
            Amount::Bytes(bytes) => written.csv + batch.get_ref().len() as u64 >= share(bytes),
        };
        if complete {
            return Ok(false);
        }
        table.write_row(batch).map_err(failed)?;
        written.rows += 1;
    }
    Ok(true)
}

fn csv_writer() -> csv::Writer<Vec<u8>> {
    // The buffer is small, because its content does not count towards the size of the batch.
    csv::WriterBuilder::new()
        .flexible(true)
        .buffer_capacity(256)
        .from_writer(Vec::with_capacity(BATCH + 4096))
}

fn report<P: Pace>(written: &Written, plan: &Plan, pace: &P) {
    let (done, total) = match plan.amount {
        Amount::Rows(rows) => (written.rows, rows),
        Amount::Bytes(bytes) => (written.csv, bytes),
    };
    pace.progress(done.min(total) as usize, total as usize, "writing the file");
}

fn failed(error: impl Display) -> Failure {
    Failure::failed(format!("the archive could not be written: {error}"))
}
