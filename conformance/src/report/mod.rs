//! What was found, for people and machines.

use serde::Serialize;

use crate::requirement::{Level, Outcome};

pub mod html;
pub mod junit;
pub mod text;

/// What was found of one requirement.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub id: &'static str,
    pub level: Level,
    pub sentence: &'static str,
    pub source: &'static str,
    pub outcome: Outcome,
    /// What was seen, or why nothing was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Why this requirement is expected to be broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What was found of a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub dialect: &'static str,
    /// The name of the dialect for people.
    #[serde(skip)]
    pub title: &'static str,
    /// The address or the command of the peer.
    pub peer: String,
    /// The name and version that the peer gives of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version of the suite.
    pub suite: &'static str,
    /// The time of the run, such as `2026-11-29T08:00:00Z`.
    pub at: String,
    pub seed: u64,
    pub races: u32,
    /// The level up to which requirements count.
    pub require: Level,
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether a row makes the run fail.
    pub fn counts_against(&self, row: &Row) -> bool {
        match row.outcome {
            Outcome::Broken => row.expected.is_none() && row.level <= self.require,
            Outcome::Held => row.expected.is_some(),
            Outcome::NotOffered | Outcome::NotRun => false,
        }
    }

    pub fn count(&self, outcome: Outcome) -> usize {
        self.rows
            .iter()
            .filter(|row| row.outcome == outcome)
            .count()
    }

    /// Such as `20 held, 1 broken, 1 not run`.
    pub fn summary(&self) -> String {
        let all = [
            Outcome::Held,
            Outcome::Broken,
            Outcome::NotOffered,
            Outcome::NotRun,
        ];
        let counts = all
            .map(|it| (self.count(it), it.word()))
            .into_iter()
            .filter(|(count, _)| *count > 0);
        counts
            .map(|(count, word)| format!("{count} {word}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
