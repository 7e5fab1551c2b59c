//! Collects the rows of a table while they are read.

use super::block::{Align, Cell, Content, Text};
use scraper::node::Element;

/// How many rows are handed on at once.
const ROWS: usize = 32;

/// The most columns that a cell may span.
const MOST_COLUMNS: usize = 20;

/// A table whose rows are being read.
pub struct Table {
    rows: Vec<Vec<Cell>>,
    /// Whether no rows were handed on yet.
    first: bool,
    /// How many tables are open inside its cells. Their content is read as text.
    pub inner: usize,
}

impl Table {
    pub fn new() -> Self {
        Self {
            rows: Vec::new(),
            first: true,
            inner: 0,
        }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the row.
    pub fn add(&mut self, element: &Element, text: Text) {
        let columns = element
            .attr("colspan")
            .and_then(|columns| columns.parse().ok())
            .unwrap_or(1);
        let cell = Cell {
            text,
            header: element.name() == "th",
            columns: columns.clamp(1, MOST_COLUMNS),
            align: align(element),
        };
        match self.rows.last_mut() {
            Some(row) => row.push(cell),
            None => self.rows.push(vec![cell]),
        }
    }

    /// Whether enough rows were read to hand them on.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= ROWS
    }

    /// Removes and returns the rows that were read, if there are any.
    pub fn take(&mut self) -> Option<Content> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.retain(|row| !row.is_empty());
        if rows.is_empty() {
            return None;
        }
        let first = std::mem::replace(&mut self.first, false);
        Some(Content::Rows { rows, first })
    }
}

fn align(element: &Element) -> Align {
    let style = element.attr("style").unwrap_or_default();
    let align = element
        .attr("align")
        .or_else(|| style.split_once("text-align:").map(|(_, value)| value));
    match align.unwrap_or_default().trim_start() {
        align if align.starts_with("right") => Align::Right,
        align if align.starts_with("center") => Align::Center,
        _ => Align::Left,
    }
}
