//! Tables: columns as wide as their text, rows that continue on the next page, and headings on each
//! page.

use super::block::{Align, Cell, Emphasis, Text};
use super::columns::{Columns, share};
use super::flow::{BYTE, Flow, LEADING};
use super::fonts::Fonts;
use super::lines::{Line, Lines};
use super::page::MARGIN;
use crate::pace::Pace;

const SIZE: f32 = 9.0;
const PADDING: f32 = 4.0;
const RULE: f32 = 0.6;

/// How much text of a cell is read to find the width of its column.
const SAMPLE: usize = 400;

/// The width of a text's longest line, and the approximate width of its longest word.
fn extent(fonts: &mut Fonts, text: &Text) -> (f32, f32) {
    let sample = &text.text[..text.text.floor_char_boundary(SAMPLE)];
    let bold = text
        .spans
        .first()
        .map_or_else(Emphasis::default, |(_, style)| style.emphasis);
    let mut widest = |pieces: &mut dyn Iterator<Item = &str>| {
        pieces
            .map(|piece| fonts.width(bold, piece) * SIZE / 1000.0)
            .fold(0.0, f32::max)
    };
    (
        widest(&mut sample.lines()),
        widest(&mut sample.split([' ', '\n', '-'])),
    )
}

impl Flow {
    /// Lays out some rows of a table. `first` is true for the first rows of the table.
    pub(super) async fn rows<P: Pace>(
        &mut self,
        rows: &[Vec<Cell>],
        first: bool,
        indent: f32,
        pace: &P,
    ) {
        let width = self.width() - indent;
        let known = self.columns.take().filter(|_| !first);
        let columns = match known {
            Some(columns) => columns,
            None => self.columns_for(rows, width, pace).await,
        };
        for (number, row) in rows.iter().enumerate() {
            let is_header = first && number == 0;
            let header = columns.header.as_deref().filter(|_| !is_header);
            self.row(row, &columns, header, indent, pace).await;
        }
        self.columns = Some(columns);
    }

    /// Columns for a table that begins with `rows`, in `width` points.
    async fn columns_for<P: Pace>(&mut self, rows: &[Vec<Cell>], width: f32, pace: &P) -> Columns {
        let spanned = |row: &Vec<Cell>| row.iter().map(|cell| cell.columns).sum();
        let count = rows.iter().map(spanned).max().unwrap_or(1);
        let mut wanted = vec![0.0f32; count];
        let mut needed = vec![0.0f32; count];
        for row in rows {
            let mut column = 0;
            for cell in row {
                if cell.columns == 1 {
                    let (line, word) = extent(&mut self.fonts, &cell.text);
                    // A little more, because sums of widths are not exact.
                    wanted[column] = wanted[column].max(line.min(width) + 2.0 * PADDING + 0.1);
                    needed[column] = needed[column].max(word + 2.0 * PADDING + 0.1);
                }
                column += cell.columns;
                if self.meter.due(2 * SAMPLE * BYTE) {
                    pace.checkpoint().await;
                }
            }
        }
        for needed in &mut needed {
            *needed = needed.min(width / 3.0).max(2.0 * PADDING + SIZE);
        }
        let mut lefts = vec![0.0];
        let mut left = 0.0;
        for width in share(&wanted, &needed, width) {
            left += width;
            lefts.push(left);
        }
        let header = rows
            .first()
            .filter(|row| row.iter().all(|cell| cell.header))
            .cloned();
        Columns { lefts, header }
    }

    async fn row<P: Pace>(
        &mut self,
        row: &[Cell],
        columns: &Columns,
        header: Option<&[Cell]>,
        indent: f32,
        pace: &P,
    ) {
        let cells = self.cells(row, columns, pace).await;
        let leading = SIZE * LEADING;
        let total = cells
            .iter()
            .map(|cell| cell.lines.len())
            .max()
            .unwrap_or(0)
            .max(1);
        let page = ((self.height() - 2.0 * PADDING) / leading) as usize;
        let mut from = 0;
        while from < total {
            let fits = ((self.y - MARGIN - 2.0 * PADDING) / leading).max(0.0) as usize;
            // A row is split only if it is longer than a page.
            let wait = if total - from <= page / 2 {
                total - from
            } else {
                1
            };
            if fits < wait && !self.page.empty {
                self.end_page();
                if let Some(header) = header {
                    let cells = self.cells(header, columns, pace).await;
                    let lines = cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(0);
                    if lines <= page / 4 {
                        self.slice(&cells, columns, 0, lines, indent);
                    }
                }
                continue;
            }
            let to = (from + fits.max(1)).min(total);
            self.slice(&cells, columns, from, to, indent);
            if self.meter.due((to - from) * cells.len() * 20 * BYTE) {
                pace.checkpoint().await;
            }
            from = to;
        }
    }

    /// Draws the lines `from` to `to` of the cells in a row.
    fn slice(&mut self, cells: &[Broken], columns: &Columns, from: usize, to: usize, indent: f32) {
        let leading = SIZE * LEADING;
        let height = (to - from) as f32 * leading + 2.0 * PADDING;
        let (left, top) = (MARGIN + indent, self.y);
        self.y -= height;
        for cell in cells {
            let x = left + columns.left(cell.column);
            if cell.cell.header {
                self.page.fill(0.93, x, self.y, cell.width, height);
            }
            for (number, line) in cell.lines.iter().skip(from).take(to - from).enumerate() {
                let free = cell.width - 2.0 * PADDING - line.width;
                let x = x
                    + PADDING
                    + match cell.cell.align {
                        Align::Left => 0.0,
                        Align::Center => free / 2.0,
                        Align::Right => free,
                    };
                let y = top - PADDING - (number as f32 + 0.7) * leading;
                self.page
                    .line(&mut self.fonts, &cell.cell.text, line, SIZE, x, y);
            }
        }
        let width = columns.width();
        self.page.fill(0.75, left, top - RULE / 2.0, width, RULE);
        self.page.fill(0.75, left, self.y - RULE / 2.0, width, RULE);
    }

    async fn cells<'c, P: Pace>(
        &mut self,
        row: &'c [Cell],
        columns: &Columns,
        pace: &P,
    ) -> Vec<Broken<'c>> {
        let mut column = 0;
        let mut cells = Vec::with_capacity(row.len());
        for cell in row {
            let next = column + cell.columns;
            let width = columns.left(next) - columns.left(column);
            let mut broken = Broken {
                cell,
                column,
                width,
                lines: Vec::new(),
            };
            column = next;
            let room = (width - 2.0 * PADDING).max(SIZE);
            let mut lines = Lines::new(&cell.text, SIZE, room);
            while let Some(line) = lines.next(&mut self.fonts) {
                if self.meter.due((line.bytes + 4) * BYTE) {
                    pace.checkpoint().await;
                }
                broken.lines.push(line);
            }
            cells.push(broken);
        }
        cells
    }
}

/// A cell whose text was broken into lines.
struct Broken<'c> {
    cell: &'c Cell,
    column: usize,
    /// The width in points.
    width: f32,
    lines: Vec<Line>,
}
