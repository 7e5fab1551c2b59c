//! Computes one percentage for work in several stages.

use std::cell::Cell;

/// The stages of a capability's work in order, each with its approximate share of the whole.
pub type Weights = &'static [(&'static str, u32)];

/// The progress of the whole work, computed from the progress of its stages.
pub struct Stages {
    weights: Weights,
    /// The last reported stage, and its whole percent.
    last: Cell<(usize, u32)>,
}

impl Stages {
    pub fn new(weights: Weights) -> Self {
        Self {
            weights,
            last: Cell::new((usize::MAX, 0)),
        }
    }

    /// The percentage of the whole when `done` of `total` of `stage` are finished. None if the
    /// stage is the same and the percentage has grown by less than one. The percentage never falls.
    pub fn percent(&self, stage: &str, done: usize, total: usize) -> Option<u32> {
        let number = self.weights.iter().position(|&(name, _)| name == stage)?;
        let before: u32 = self.weights[..number]
            .iter()
            .map(|&(_, weight)| weight)
            .sum();
        let all: u32 = self.weights.iter().map(|&(_, weight)| weight).sum();
        let part = done as f64 / total.max(1) as f64 * f64::from(self.weights[number].1);
        let (last_number, last) = self.last.get();
        let percent = ((f64::from(before) + part) / f64::from(all) * 100.0) as u32;
        let percent = percent.min(100).max(last);
        self.last.set((number, percent));
        (percent > last || number != last_number).then_some(percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_grows_with_its_stages_and_never_falls() {
        let stages = Stages::new(&[("reading", 1), ("writing", 3)]);
        assert_eq!(stages.percent("reading", 0, 10), Some(0));
        assert_eq!(stages.percent("reading", 0, 10), None);
        assert_eq!(stages.percent("reading", 10, 10), Some(25));
        assert_eq!(stages.percent("writing", 0, 1000), Some(25));
        assert_eq!(stages.percent("writing", 1, 1000), None);
        assert_eq!(stages.percent("writing", 500, 1000), Some(62));
        assert_eq!(stages.percent("reading", 5, 10), Some(62));
        assert_eq!(stages.percent("writing", 1000, 1000), Some(100));
        assert_eq!(stages.percent("thinking", 1, 2), None);
    }
}
