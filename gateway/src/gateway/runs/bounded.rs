//! Bounds the size of a list of runs: each run may have a long reason and much progress.

use std::sync::Arc;

use crate::broker::calls::Run;

/// How many bytes a list may have, about 8 MiB: enough for as many short runs as a list may have.
pub(crate) const LIST_BYTES: usize = 8 << 20;
/// How many bytes a run has without its texts, about.
const RUN_BYTES: usize = 600;

/// The newest runs that fit in `max` bytes, and how many runs are left out.
pub(super) fn bounded(mut runs: Vec<Arc<Run>>, max: usize) -> (Vec<Arc<Run>>, usize) {
    let (all, mut bytes) = (runs.len(), 0);
    runs.retain(|run| {
        // Once there are too many bytes, no more are counted.
        bytes += if bytes <= max { length(run) } else { 0 };
        bytes <= max
    });
    let cut = all - runs.len();
    (runs, cut)
}

/// How many bytes a run has as JSON, about.
fn length(run: &Run) -> usize {
    let texts = [
        run.dialect_id.as_deref(),
        Some(&*run.owner.name),
        run.thread.as_deref(),
        run.app.as_deref(),
        // The run's name contains the capability as well.
        Some(&*run.capability),
        Some(&*run.capability),
        Some(&*run.call_id),
        run.cancel_reason.as_deref(),
        run.error.as_deref(),
    ];
    let texts: usize = texts.into_iter().flatten().map(escaped).sum();
    let progress = run.progress.as_ref().map_or(0, |it| it.get().len());
    RUN_BYTES + texts + progress
}

fn escaped(text: &str) -> usize {
    let length = |byte| match byte {
        0..=0x1f => r"\u0000".len(),
        b'"' | b'\\' => 2,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::calls::{Calls, Dialect, NewRun, RunId, newest};
    use crate::tokens::Identity;

    #[test]
    fn a_list_of_runs_with_long_reasons_is_bounded_in_bytes() {
        let (mut runs, owner) = (Calls::default(), Identity::anyone());
        for reason in [&*"x".repeat(4_096), &"\u{1}".repeat(4_096)] {
            for number in 0..4_000 {
                let id = RunId::random();
                let new = NewRun {
                    id,
                    dialect: Dialect::Abp,
                    dialect_id: Some(number.to_string().into()),
                    owner: owner.clone(),
                    agent: None,
                    thread: None,
                    app: None,
                    capability: "a.b".into(),
                    call_id: "c".into(),
                };
                runs.register(new, number);
                runs.cancel_requested(id, Some(reason), number);
            }
            let (listed, omitted) = newest(runs.visible(&owner, 0), 0);
            let all = listed.len() + omitted;
            let (bounded, cut) = bounded(listed, LIST_BYTES);
            assert!(cut > 0 && bounded.len() + cut + omitted == all);
            let json = serde_json::to_string(&bounded).unwrap();
            assert!(
                (LIST_BYTES * 3 / 4..=LIST_BYTES).contains(&json.len()),
                "{}",
                json.len()
            );
        }
    }
}
