//! One owner's runs, however many and however long, are no burden to others.

use super::tests::{add, agent, new_run};
use super::*;
use crate::tokens::Identity;

#[test]
fn of_thousands_of_runs_with_one_id_the_newest_are_told_and_each_is_forgotten() {
    let (a, b) = (agent("a"), agent("b"));
    let mut runs = Calls::new(Retention {
        count: 5_000,
        ..Retention::default()
    });
    let own = add(&mut runs, "1", &b);
    let mut ids = Vec::new();
    for _ in 0..6_000 {
        let id = add(&mut runs, "1", &a);
        runs.over(id, Ending::Completed, 0);
        ids.push(id);
    }
    let found = runs.matches("1", &a, 0);
    let newest = ids.split_off(ids.len() - 16);
    assert_eq!(found.iter().map(|run| run.id).collect::<Vec<_>>(), newest);
    assert!(matches!(runs.find("1", &a, 0), Found::Several(ids) if ids == newest));
    // One in flight is meant, however many have ended since.
    let flying = add(&mut runs, "1", &a);
    let later = add(&mut runs, "1", &a);
    runs.over(later, Ending::Completed, 0);
    assert!(matches!(runs.find("1", &a, 0), Found::One(run) if run.id == flying));
    assert!(matches!(runs.find("1", &b, 0), Found::One(run) if run.id == own));
    assert_eq!(runs.by_dialect_id.of("1").count(), runs.calls.len());
    runs.over(flying, Ending::Completed, 0);
    runs.over(own, Ending::Completed, 0);
    add(&mut runs, "2", &a);
    runs.expire(10_000_000);
    assert_eq!(runs.by_dialect_id.of("1").count(), 0);
    assert_eq!(runs.by_dialect_id.of("2").count(), 1);
}

#[test]
fn a_reader_of_a_run_keeps_its_old_state_without_a_copy() {
    let a = agent("a");
    let mut runs = Calls::default();
    let id = add(&mut runs, "1", &a);
    let listed = runs.visible(&a, 0);
    assert!(Arc::ptr_eq(&listed[0], &runs.shared(id).unwrap()));
    runs.over(id, Ending::Completed, 5);
    assert_eq!(listed[0].state, RunState::Queued);
    assert_eq!(runs.get(id).unwrap().state, RunState::Completed);
}

#[test]
fn a_list_has_so_many_runs_in_flight_and_no_more() {
    let a = agent("a");
    let mut runs = Calls::default();
    let first = add(&mut runs, "0", &a);
    for number in 1..=10_000 {
        add(&mut runs, &number.to_string(), &a);
    }
    let (listed, omitted) = runs.recent(&a, 5, 0);
    assert_eq!((listed.len(), omitted), (10_000, 1));
    let (listed, omitted) = newest(runs.visible(&a, 0), 5);
    assert_eq!((listed.len(), omitted), (10_000, 1));
    assert!(listed.iter().all(|run| run.id != first), "the newest");
    assert_eq!(runs.visible(&a, 0).len(), 10_001);
}

#[test]
fn what_is_remembered_of_an_owner_is_bounded_in_bytes() {
    let (greedy, modest) = (agent("greedy"), agent("modest"));
    let mut runs = Calls::new(Retention {
        bytes: 100_000,
        ..Retention::default()
    });
    let own = add(&mut runs, "own", &modest);
    runs.over(own, Ending::Completed, 0);
    let mut last = own;
    for number in 0..100 {
        last = add(&mut runs, &number.to_string(), &greedy);
        runs.cancel_requested(last, Some(&"é".repeat(REASON_CHARS)), 0);
        runs.over(last, Ending::Cancelled(Stop::Dropped, None), 0);
    }
    let kept = runs.visible(&greedy, 0);
    assert!((5..=12).contains(&kept.len()), "{}", kept.len());
    let newest = kept.iter().max_by_key(|run| run.sequence).unwrap();
    assert_eq!(newest.id, last);
    assert!(runs.get(own).is_some());
    // Of all owners together there are so many bytes too.
    for owner in 0..100 {
        let owner = agent(&format!("owner {owner}"));
        for number in 0..10 {
            let run = add(&mut runs, &number.to_string(), &owner);
            runs.cancel_requested(run, Some(&"é".repeat(REASON_CHARS)), 0);
            runs.over(run, Ending::Cancelled(Stop::Dropped, None), 0);
        }
    }
    let bytes = runs
        .calls
        .values()
        .map(|call| call.run.bytes())
        .sum::<usize>();
    assert!(bytes <= 10 * 100_000, "{bytes}");
}

#[test]
fn a_run_larger_than_all_that_may_be_remembered_is_remembered_alone() {
    let a = agent("a");
    let mut runs = Calls::new(Retention {
        bytes: 1,
        ..Retention::default()
    });
    for number in ["1", "2"] {
        let id = new_run(number, &a).id;
        runs.register(
            NewRun {
                id,
                ..new_run(number, &a)
            },
            0,
        );
        assert!(runs.over(id, Ending::Completed, 0).is_some());
        assert_eq!(runs.visible(&a, 0).len(), 1);
    }
}

#[test]
fn what_is_long_in_the_runs_in_flight_of_an_owner_is_bounded_in_bytes() {
    let (greedy, modest) = (agent("greedy"), agent("modest"));
    let mut runs = Calls::new(Retention {
        bytes: 100_000,
        ..Retention::default()
    });
    let progress = format!("{:?}", "x".repeat(8_000));
    let mut ids = Vec::new();
    for number in 0..1_000 {
        let id = add(&mut runs, &number.to_string(), &greedy);
        runs.sent(id, None, 1);
        runs.progress(id, r#"{"progress":1}"#);
        runs.progress(id, &progress);
        runs.cancel_requested(id, Some(&"x".repeat(REASON_CHARS)), 0);
        ids.push(id);
    }
    let long: usize = ids
        .iter()
        .map(|id| runs.get(*id).unwrap().long_bytes())
        .sum();
    // A run without room keeps only the beginning of its reason, and its first progress.
    assert!((300_000..=400_000).contains(&long), "{long}");
    let last = runs.get(ids[999]).unwrap();
    assert_eq!(last.cancel_reason.as_ref().map(String::len), Some(ID_CHARS));
    // That is nothing to others, and ends with the runs.
    let other = add(&mut runs, "1", &modest);
    runs.progress(other, &progress);
    assert_eq!(runs.get(other).unwrap().progress_bytes(), progress.len());
    for id in ids {
        runs.over(id, Ending::Completed, 0);
    }
    let next = add(&mut runs, "1", &greedy);
    runs.progress(next, &progress);
    assert_eq!(runs.get(next).unwrap().progress_bytes(), progress.len());
}

#[test]
fn a_list_visits_no_more_runs_than_it_may_have() {
    let (a, b, admin) = (agent("a"), agent("b"), Identity::anyone());
    let of_app = Identity {
        app: Some("shop".into()),
        ..Identity::anyone()
    };
    let mut runs = Calls::default();
    for owner in [&a, &b] {
        for number in 0..100 {
            let id = add(&mut runs, &number.to_string(), owner);
            runs.sent(id, Some("shop".into()), 1);
            runs.over(id, Ending::Completed, number);
        }
        add(&mut runs, "flying", owner);
    }
    let hour = Retention::default().time.as_millis() as u64;
    // The viewer, the time, how many ended runs are wanted, and how many runs are visited, listed
    // and left out.
    for (viewer, now, ended, visited, listed, omitted) in [
        (&a, 100, 5, 6, 6, 95),
        (&a, 100, 0, 1, 1, 100),
        (&a, 100, 1_000, 101, 101, 0),
        (&admin, 100, 5, 12, 7, 195),
        // Only those of its app, which those are not that were never sent.
        (&of_app, 100, 5, 200, 5, 195),
        // Half of them are too old.
        (&b, hour + 50, 5, 6, 6, 45),
    ] {
        let (recent, left) = runs.recent(viewer, ended, now);
        assert_eq!(recent.len(), visited);
        let (list, cut) = newest(recent, ended);
        assert_eq!((list.len(), left + cut), (listed, omitted));
        let newest_over = list.iter().find(|run| run.state.is_over());
        assert!(newest_over.is_none_or(|run| run.dialect_id.as_deref() == Some("99")));
    }
}
