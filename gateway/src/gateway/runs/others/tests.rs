use super::*;
use crate::broker::calls::{Dialect, Ending, NewRun};
use crate::limits::Limits;
use crate::tokens::Tokens;

const SEVEN: &str = "00000000-0000-4000-8000-000000000007";

fn register(hub: &Hub) -> RunId {
    let id = RunId::random();
    let new = NewRun {
        id,
        dialect: Dialect::Mcp,
        dialect_id: Some(SEVEN.into()),
        owner: Identity::anyone(),
        agent: None,
        thread: None,
        app: None,
        capability: "a.b".into(),
        call_id: "c".into(),
    };
    hub.change_runs(|runs, now| runs.register(new, now));
    id
}

fn early(at: u64) -> EarlyCancel {
    EarlyCancel::new(SEVEN, None, &Identity::anyone(), at)
}

#[test]
fn a_cancel_of_another_worker_meets_the_run_that_has_come_meanwhile() {
    let hub = Hub::new(Limits::default(), Tokens::default());
    let now = hub.now().unix_ms;
    let over = register(&hub);
    hub.change_runs(|runs, now| runs.over(over, Ending::Completed, now).is_some());
    let met = hub.meet_early(early(now)).unwrap();
    assert_eq!(met.id, over, "it has come and gone");
    let run = register(&hub);
    assert_eq!(hub.meet_early(early(now)).unwrap().id, run);
    assert!(hub.early_cancels().is_empty());
    register(&hub);
    assert!(hub.meet_early(early(now)).is_none(), "which of them?");
    assert!(hub.early_cancels().is_empty());
}

#[test]
fn a_cancel_of_another_worker_that_is_not_kept_here_meets_no_run() {
    let hub = Hub::new(Limits::default(), Tokens::default());
    let now = hub.now().unix_ms;
    let id = register(&hub).to_string();
    let shared = EarlyCancel::new("7", None, &Identity::anyone(), now);
    assert!(hub.meet_early(shared).is_none());
    // The id of a run names its worker, so a cancel of such an id is never kept.
    let own = EarlyCancel::new(&id, None, &Identity::anyone(), now);
    assert!(hub.meet_early(own).is_none());
    let mut limits = Limits::default();
    limits.retention.early = std::time::Duration::ZERO;
    let hub = Hub::new(limits, Tokens::default());
    register(&hub);
    assert!(hub.meet_early(early(now)).is_none());
}

#[test]
fn a_cancel_of_another_worker_is_kept_for_a_run_yet_to_come() {
    let hub = Hub::new(Limits::default(), Tokens::default());
    let kept = early(hub.now().unix_ms);
    assert!(hub.meet_early(kept.clone()).is_none());
    assert_eq!(hub.early_cancels(), [kept]);
    let run = register(&hub);
    let run = hub.run(run, &Identity::anyone()).unwrap();
    assert!(run.state.is_over() && hub.early_cancels().is_empty());
}
