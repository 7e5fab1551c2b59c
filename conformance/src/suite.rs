//! Runs the requirements of a dialect, one after the other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::context::Context;
use crate::finding::Finding;
use crate::report::{Report, Row};
use crate::requirement::{Outcome, Requirement};

/// How long one scenario may take, beside its races.
const LIMIT: Duration = Duration::from_secs(90);

/// Runs `requirements`. `told` hears of each row when it is known.
pub async fn run(
    cx: &Context,
    requirements: &[&Requirement],
    expected: &BTreeMap<String, String>,
    mut told: impl FnMut(&Row),
) -> Vec<Row> {
    let mut rows = Vec::new();
    // A peer that cannot be reached need not be tried again for each row.
    let mut unreachable = None;
    for requirement in requirements {
        let started = Instant::now();
        let limit = LIMIT + Duration::from_millis(200) * cx.races;
        let verdict = match &unreachable {
            Some(why) => Err(Finding::NotRun(String::clone(why))),
            None => match timeout(limit, (requirement.scenario)(cx)).await {
                Ok(verdict) => verdict,
                Err(_) => Err(Finding::Broken(format!(
                    "there was no end within {} s",
                    limit.as_secs()
                ))),
            },
        };
        let (outcome, seen) = match verdict {
            Ok(()) => (Outcome::Held, None),
            Err(Finding::Broken(seen)) => (Outcome::Broken, Some(seen)),
            Err(Finding::NotOffered(why)) => (Outcome::NotOffered, Some(why)),
            Err(Finding::NotRun(why)) => (Outcome::NotRun, Some(why)),
        };
        if outcome == Outcome::Broken {
            // What is left of it must not disturb the next scenario.
            cx.forget().await;
        }
        if rows.is_empty() && outcome == Outcome::NotRun {
            unreachable = seen.clone();
        }
        let row = Row {
            id: requirement.id,
            level: requirement.level,
            sentence: requirement.sentence,
            source: requirement.source,
            outcome,
            seen,
            expected: expected.get(requirement.id).cloned(),
            ms: started.elapsed().as_millis() as u64,
        };
        told(&row);
        rows.push(row);
    }
    cx.close().await;
    rows
}

/// Whether all that is required holds: no requirement up to `report.require` is broken unless that is expected, no expected
/// failure holds, and the peer was reached.
pub fn holds(report: &Report) -> bool {
    let reached = report.rows.iter().any(|row| row.outcome != Outcome::NotRun);
    reached && report.rows.iter().all(|row| !report.counts_against(row))
}
