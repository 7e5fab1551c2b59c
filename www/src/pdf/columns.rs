//! The columns of a table.

use super::block::Cell;

/// The division of a table's width into columns.
pub struct Columns {
    /// The left edges of the columns and the right edge of the last, in points from the table's
    /// left edge.
    pub lefts: Vec<f32>,
    /// The row of headings, if the table begins with one.
    pub header: Option<Vec<Cell>>,
}

impl Columns {
    /// The left edge of `column`, in points from the table's left edge.
    pub fn left(&self, column: usize) -> f32 {
        self.lefts[column.min(self.lefts.len() - 1)]
    }

    pub fn width(&self) -> f32 {
        self.left(usize::MAX)
    }
}

/// Gives each column the width that it wants or, if that is too much, the width that it needs and a
/// fair part of the rest.
pub fn share(wanted: &[f32], needed: &[f32], width: f32) -> Vec<f32> {
    let (all_wanted, all_needed): (f32, f32) = (wanted.iter().sum(), needed.iter().sum());
    let pairs = wanted.iter().zip(needed);
    if all_wanted <= width {
        return pairs
            .map(|(wanted, needed)| wanted.max(*needed))
            .collect::<Vec<_>>();
    }
    if all_needed >= width {
        return needed
            .iter()
            .map(|needed| needed * width / all_needed)
            .collect();
    }
    let more = pairs
        .map(|(wanted, needed)| (wanted - needed).max(0.0))
        .collect::<Vec<_>>();
    let all_more: f32 = more.iter().sum::<f32>().max(1.0);
    needed
        .iter()
        .zip(more)
        .map(|(needed, more)| needed + more * (width - all_needed) / all_more)
        .collect()
}
