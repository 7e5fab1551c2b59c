//! Requirements, and how they came out.

use clap::ValueEnum;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::context::Context;
use crate::finding::Verdict;

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Its source says MUST, or the like.
    Must,
    /// Its source says SHOULD, or the like.
    Should,
    /// Its source does not say it. A caller needs it to know what has happened.
    Ours,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Ours => "ours",
        }
    }
}

/// A rule, and the scenario that looks whether it holds. Once published, a number keeps its meaning.
pub struct Requirement {
    /// Such as `MCP-C-01`.
    pub id: &'static str,
    pub level: Level,
    /// One sentence.
    pub sentence: &'static str,
    /// The address of the text that says it, or of ours.
    pub source: &'static str,
    pub scenario: Scenario,
}

/// Looks at a peer.
pub type Scenario = for<'a> fn(&'a Context) -> BoxFuture<'a, Verdict>;

/// What was found of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Held,
    Broken,
    NotOffered,
    NotRun,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotOffered => "not offered",
            Self::NotRun => "not run",
        }
    }
}
