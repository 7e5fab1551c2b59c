use super::*;
use crate::pace::testing::{Counting, finish, stop_after};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::io::{Cursor, Read};
use std::rc::Rc;

/// A sink that keeps the parts, and counts the released parts.
#[derive(Clone, Default)]
struct Parts {
    bytes: Rc<RefCell<Vec<u8>>>,
    largest: Rc<Cell<usize>>,
    held: Rc<Cell<usize>>,
}

struct Memory(Parts);

impl Sink for Memory {
    type Whole = String;

    fn append(&mut self, part: &[u8]) -> Result<(), Failure> {
        self.0.bytes.borrow_mut().extend_from_slice(part);
        self.0.largest.set(self.0.largest.get().max(part.len()));
        self.0.held.set(self.0.held.get() + 1);
        Ok(())
    }

    fn finish(self, mime_type: &str) -> Result<String, Failure> {
        assert_eq!(mime_type, "application/zip");
        Ok("blob:archive".into())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.held.set(0);
    }
}

fn params(value: serde_json::Value) -> Params {
    serde_json::from_value(value).expect("parameters")
}

fn archive(value: serde_json::Value) -> (Archive<String>, Vec<u8>, Counting) {
    let (parts, pace) = (Parts::default(), Counting::default());
    let archive = finish(run(params(value), Memory(parts.clone()), &pace)).expect("an archive");
    (archive, parts.bytes.take(), pace)
}

fn files(zip: Vec<u8>) -> Vec<(String, String)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).expect("a zip file");
    (0..zip.len())
        .map(|index| {
            let mut file = zip.by_index(index).expect("an entry");
            let mut text = String::new();
            file.read_to_string(&mut text)
                .expect("a whole entry with the right checksum");
            (file.name().expect("a name").into_owned(), text)
        })
        .collect()
}

#[test]
fn the_zip_holds_csv_files_with_every_row_asked_for() {
    let (archive, bytes, _) = archive(json!({"rows": 10_001, "files": 3, "columns": 11}));
    assert_eq!(
        (archive.rows, archive.files, archive.size),
        (10_001, 3, bytes.len() as u64)
    );
    let files = files(bytes);
    assert_eq!(
        files
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>(),
        ["orders-001.csv", "orders-002.csv", "orders-003.csv"]
    );
    assert_eq!(
        archive.uncompressed_size,
        files.iter().map(|(_, text)| text.len() as u64).sum::<u64>()
    );
    let mut rows = 0;
    for (_, text) in &files {
        let mut csv = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(csv.headers().unwrap().iter().nth(8), Some("order_2"));
        for (index, row) in csv.records().enumerate() {
            let row = row.expect("a row as wide as the headings");
            assert_eq!(row[0], (index + 1).to_string());
            rows += 1;
        }
    }
    assert_eq!(rows, 10_001);
}

#[test]
fn a_size_in_megabytes_is_met_within_a_row() {
    let (archive, bytes, _) = archive(json!({"megabytes": 3.5, "files": 2}));
    assert!(
        (3_500_000..3_501_000).contains(&archive.uncompressed_size),
        "{}",
        archive.uncompressed_size
    );
    assert!(archive.size < archive.uncompressed_size / 2);
    assert_eq!(files(bytes).len(), 2);
}

#[test]
fn the_same_seed_gives_the_same_archive() {
    let bytes = |seed: u64| archive(json!({"rows": 500, "seed": seed})).1;
    assert_eq!(bytes(7), bytes(7));
    assert_ne!(bytes(7), bytes(8));
}

#[test]
fn memory_does_not_grow_with_the_archive() {
    let (parts, pace) = (Parts::default(), Counting::default());
    let archive = finish(run(
        params(json!({"megabytes": 8})),
        Memory(parts.clone()),
        &pace,
    ))
    .unwrap();
    assert!(archive.size > 1_500_000);
    assert!(
        parts.largest.get() < 1024 * 1024 + 2 * write::BATCH,
        "{}",
        parts.largest.get()
    );
    assert!(pace.checkpoints() >= 8_000_000 / (write::BATCH + 1024));
}

#[test]
fn an_archive_stopped_halfway_releases_what_was_written() {
    let (parts, pace) = (Parts::default(), Counting::default());
    let work = run(
        params(json!({"megabytes": 500})),
        Memory(parts.clone()),
        &pace,
    );
    let mut work = Box::pin(work);
    assert!(stop_after(400, work.as_mut()).is_none());
    assert!(parts.held.get() > 0);
    drop(work);
    assert_eq!(parts.held.get(), 0);
    assert_eq!(pace.checkpoints(), 400);
}

#[test]
fn an_empty_archive_and_the_defaults() {
    assert_eq!(archive(json!({"rows": 0})).0.rows, 0);
    let plan = Plan::new(&Params::default()).unwrap();
    assert!(matches!(plan.amount, plan::Amount::Rows(100_000)));
}

#[test]
fn sizes_out_of_bounds_are_refused_before_anything_is_written() {
    for bad in [
        json!({"rows": 1, "megabytes": 1}),
        json!({"megabytes": 501}),
        json!({"megabytes": 0}),
        json!({"rows": 400_000_000u64}),
        json!({"files": 0}),
        json!({"files": 101}),
        json!({"columns": 65}),
    ] {
        let parts = Parts::default();
        let error = finish(run(
            params(bad.clone()),
            Memory(parts.clone()),
            &Counting::default(),
        ))
        .unwrap_err();
        assert_eq!(error.code, "INVALID_PARAMS", "{bad}");
        assert!(parts.bytes.borrow().is_empty());
    }
}
