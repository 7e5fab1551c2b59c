//! The rows of a CSV file: orders of an imaginary shop.

use super::random::Random;
use std::io::Write;

const COLUMNS: [(&str, Cell); 8] = [
    ("order", Cell::Order),
    ("placed_at", Cell::PlacedAt),
    ("customer", Cell::Customer),
    ("city", Cell::City),
    ("product", Cell::Product),
    ("quantity", Cell::Quantity),
    ("price", Cell::Price),
    ("note", Cell::Note),
];

const FIRST_NAMES: [&str; 12] = [
    "Ada", "Björn", "Chloé", "Dmitri", "Émile", "Fatima", "Grace", "Hana", "İpek", "José", "Katja",
    "Łukasz",
];
const LAST_NAMES: [&str; 12] = [
    "Almeida", "Brown", "Castillo", "Dubois", "Eriksson", "Fischer", "García", "Hopper", "Ivanova",
    "Jensen", "Kowalska", "O'Neill",
];
const CITIES: [&str; 10] = [
    "Aarhus",
    "Bogotá",
    "Kraków",
    "Lisboa",
    "München",
    "Nairobi",
    "Québec",
    "San José",
    "Tōkyō",
    "Zürich",
];
const PRODUCTS: [&str; 8] = [
    "Desk lamp, brass",
    "Notebook A5",
    "Shelf 60\" oak",
    "Teapot",
    "Bicycle bell",
    "Wool blanket",
    "Garden chair",
    "Ink, black",
];
const NOTES: [&str; 6] = [
    "",
    "Leave at the door",
    "Gift, \"no invoice\" please",
    "Call first, then deliver",
    "Fragile",
    "Second\nfloor",
];

#[derive(Clone, Copy)]
enum Cell {
    Order,
    PlacedAt,
    Customer,
    City,
    Product,
    Quantity,
    Price,
    Note,
}

/// An endless source of rows for a file.
pub struct Table {
    columns: usize,
    random: Random,
    order: u64,
    cell: Vec<u8>,
}

impl Table {
    pub fn new(columns: usize, seed: u64) -> Self {
        Self {
            columns,
            random: Random::new(seed),
            order: 0,
            cell: Vec::new(),
        }
    }

    /// The headings, each with a number when the columns repeat.
    pub fn headings(&self) -> Vec<String> {
        let heading =
            |column: usize| match (column / COLUMNS.len(), COLUMNS[column % COLUMNS.len()].0) {
                (0, name) => name.to_owned(),
                (round, name) => format!("{name}_{}", round + 1),
            };
        (0..self.columns).map(heading).collect()
    }

    /// Writes the next row.
    pub fn write_row<W: Write>(&mut self, csv: &mut csv::Writer<W>) -> csv::Result<()> {
        self.order += 1;
        for column in 0..self.columns {
            self.cell.clear();
            self.fill(COLUMNS[column % COLUMNS.len()].1)?;
            csv.write_field(&self.cell)?;
        }
        csv.write_record(None::<&[u8]>)
    }

    /// Estimates the bytes of a row.
    pub fn bytes_per_row(mut self) -> u64 {
        const SAMPLE: u64 = 256;
        let mut csv = csv::Writer::from_writer(Vec::new());
        // Order numbers grow, so the estimate uses long ones.
        self.order = 1_000_000;
        for _ in 0..SAMPLE {
            self.write_row(&mut csv).expect("a row in memory");
        }
        (csv.into_inner().expect("rows in memory").len() as u64).div_ceil(SAMPLE)
    }

    fn fill(&mut self, cell: Cell) -> std::io::Result<()> {
        let Self {
            random,
            order,
            cell: out,
            ..
        } = self;
        match cell {
            Cell::Order => write!(out, "{order}"),
            Cell::PlacedAt => write!(
                out,
                "20{}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                20 + random.below(7),
                1 + random.below(12),
                1 + random.below(28),
                random.below(24),
                random.below(60),
                random.below(60)
            ),
            Cell::Customer => write!(
                out,
                "{} {}",
                random.of(&FIRST_NAMES),
                random.of(&LAST_NAMES)
            ),
            Cell::City => out.write_all(random.of(&CITIES).as_bytes()),
            Cell::Product => out.write_all(random.of(&PRODUCTS).as_bytes()),
            Cell::Quantity => write!(out, "{}", 1 + random.below(40)),
            Cell::Price => write!(out, "{}.{:02}", 1 + random.below(900), random.below(100)),
            Cell::Note => out.write_all(random.of(&NOTES).as_bytes()),
        }
    }
}
