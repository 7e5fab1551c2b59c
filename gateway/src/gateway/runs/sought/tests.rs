use super::*;
use crate::broker::calls::{Calls, Dialect, Ending, NewRun};
use crate::tokens::Identity;

fn run(dialect_id: &str, ended: bool) -> Arc<Run> {
    run_until(dialect_id, ended.then_some(2))
}

fn run_until(dialect_id: &str, ended: Option<u64>) -> Arc<Run> {
    let (mut runs, id) = (Calls::default(), RunId::random());
    runs.register(
        NewRun {
            id,
            dialect: Dialect::Mcp,
            dialect_id: Some(dialect_id.into()),
            owner: Identity::anyone(),
            agent: None,
            thread: None,
            app: None,
            capability: "a.b".into(),
            call_id: "c".into(),
        },
        1,
    );
    if let Some(at) = ended {
        runs.over(id, Ending::Completed, at);
    }
    runs.shared(id).unwrap()
}

fn mark(run: &Arc<Run>) -> RunMark {
    RunMark::from(&**run)
}

fn one(found: Found<Placed<RunMark>>) -> Placed<RunMark> {
    match found {
        Found::One(placed) => placed,
        other => panic!("{other:?}"),
    }
}

fn here(runs: impl IntoIterator<Item = Arc<Run>>) -> Vec<Placed<RunMark>> {
    runs.into_iter()
        .map(|run| Placed::here(mark(&run)))
        .collect()
}

fn there(run: &Arc<Run>) -> Placed<RunMark> {
    Placed::there(WorkerId::random(), mark(run))
}

#[test]
fn a_run_id_comes_before_a_dialect_id_that_looks_like_it() {
    let run_there = run("1", true);
    let id = run_there.id.to_string();
    for cancels in [false, true] {
        let found = vec![Placed::here(mark(&run(&id, false))), there(&run_there)];
        let found = one(meant(&id, found, cancels));
        assert!(found.run.id.to_string() == id);
    }
}

#[test]
fn a_cancel_by_an_id_of_several_runs_means_the_one_in_flight_or_the_last_to_end() {
    let [old, new, flying] = [Some(2), Some(3), None].map(|at| run_until("1", at));
    let meant = |runs: &[&Arc<Run>], cancels| {
        let mut found = here(runs.iter().map(|run| Arc::clone(run)));
        found.push(there(&new));
        meant("1", found, cancels)
    };
    assert_eq!(one(meant(&[&old], true)).run.id, new.id);
    assert!(!one(meant(&[&old], true)).is_here());
    assert_eq!(one(meant(&[&old, &flying], true)).run.id, flying.id);
    let another = run("1", false);
    let several = meant(&[&old, &flying, &another], true);
    assert!(matches!(several, Found::Several(runs) if runs.len() == 2));
    let read = meant(&[&old], false);
    assert!(matches!(read, Found::Several(_)), "only a cancel may guess");
}
