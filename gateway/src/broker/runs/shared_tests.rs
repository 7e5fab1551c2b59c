use std::time::Duration;

use uuid::Uuid;

use super::tests::{add, agent, found, new_run, unique};
use super::*;
use caphost::call::{Step, StoppedBy};

#[test]
fn what_another_worker_keeps_meets_its_run_once() {
    let a = agent("a");
    let mut runs = Runs::default();
    let told = EarlyCancel::new(&unique(7), None, &a, 5);
    assert_eq!(runs.cancel_early(told.clone(), 10), Some(told.clone()));
    // It was met elsewhere, and what says so may come before it.
    runs.forget_early(&told);
    assert!(runs.early_cancels(10).is_empty());
    assert_eq!(runs.cancel_early(told.clone(), 10), None);
    assert!(runs.register(new_run(&unique(7), &a), 10).is_none());

    let again = EarlyCancel::new(&unique(7), None, &a, 20);
    runs.cancel_early(again.clone(), 20);
    // Who asks again renews what is kept.
    let renewed = runs.cancel_early(EarlyCancel::new(&unique(7), None, &a, 25), 25);
    assert_eq!(renewed.map(|it| (it.key, it.at)), Some((again.key, 25)));
    runs.take_news();
    assert!(runs.register(new_run(&unique(7), &a), 30).is_some());
    let taken = |news: &News| matches!(news, News::EarlyTaken(early) if early.key == again.key);
    assert!(runs.take_news().iter().any(taken));
    assert_eq!(runs.cancel_early(again, 30), None, "it is done with");
}

#[test]
fn older_cancels_of_another_worker_are_forgotten_in_their_turn() {
    let a = agent("a");
    let mut runs = Runs::new(Retention {
        count: 2,
        early: Duration::from_millis(10),
        ..Retention::default()
    });
    let [new, old, older] = [1, 2, 3].map(unique);
    for (id, at) in [(&new, 20), (&old, 12), (&older, 11)] {
        runs.cancel_early(EarlyCancel::new(id, None, &a, at), 20);
    }
    let kept = |runs: &Runs, now| {
        let kept = runs.early_cancels(now).into_iter();
        kept.map(|it| it.request_id).collect::<Vec<_>>()
    };
    assert_eq!(kept(&runs, 20), [old, new.clone()]);
    assert_eq!(kept(&runs, 23), [new]);
}

#[test]
fn adopted_runs_keep_their_end_and_what_was_in_flight_is_unknown() {
    let a = agent("a");
    let mut gone = Runs::default();
    let done = add(&mut gone, "done", &a);
    gone.end(done, Ending::Failed("BROKEN".into()), 5);
    let flying = add(&mut gone, "flying", &a);
    gone.sent(flying, Some("shop".into()));
    let all = gone.visible(&a, 5);

    let mut runs = Runs::default();
    let own = add(&mut runs, "own", &a);
    runs.take_news();
    let mut adopted = runs.adopt(all.clone(), Uuid::nil(), |_| false, 9);
    adopted.sort_unstable();
    let mut both = [done, flying];
    both.sort_unstable();
    assert_eq!(adopted, both);
    assert!(
        runs.adopt(all, Uuid::nil(), |_| false, 9).is_empty(),
        "they are known"
    );
    assert!(
        runs.take_news().is_empty(),
        "nothing has happened to them here"
    );
    assert_eq!(runs.in_flight().len(), 1);
    let run = |id| runs.get(id).unwrap();
    assert_eq!(
        (run(done).state, run(done).ended_at),
        (RunState::Failed, Some(5))
    );
    assert_eq!(run(done).error.as_deref(), Some("BROKEN"));
    assert_eq!(
        (run(flying).state, run(flying).ended_at),
        (RunState::Unknown, Some(9))
    );
    assert_eq!(run(flying).error.as_deref(), Some("DISCONNECTED"));
    assert!(run(flying).adopted && run(done).adopted && !run(own).adopted);
    assert_eq!(found(&runs, "flying", &a), Some(flying));
    let written = serde_json::to_vec(run(flying)).unwrap();
    let read: Run = serde_json::from_slice(&written).unwrap();
    assert!(read.adopted && read.state == RunState::Unknown);
}

#[test]
fn the_end_of_a_run_that_was_adopted_too_early_corrects_all_that_is_known_of_it() {
    let a = agent("a");
    let mut home = Runs::default();
    let id = add(&mut home, "1", &a);
    let early = home.shared(id).unwrap();
    home.sent(id, Some("shop".into()));
    home.progress(id, r#"{"progress":5}"#);
    home.cancel_requested(id, Some("enough"), 6);
    let by = StoppedBy {
        step: Step::Terminate,
        took: 57.0,
    };
    home.end(id, Ending::Cancelled(Stop::Terminated, Some(by)), 7);

    let mut runs = Runs::default();
    assert_eq!(runs.adopt(vec![early], Uuid::nil(), |_| false, 9), [id]);
    assert_eq!(runs.get(id).unwrap().state, RunState::Unknown);
    assert_eq!(
        runs.adopt(vec![home.shared(id).unwrap()], Uuid::nil(), |_| false, 10),
        [id]
    );
    let run = runs.get(id).unwrap();
    assert_eq!((run.stop(), run.by), (Some(Stop::Terminated), Some(by)));
    assert_eq!((run.lost, run.error.as_deref()), (None, None));
    assert_eq!(run.app.as_deref(), Some("shop"));
    let progress = run.progress.as_ref().map(|it| it.get());
    assert_eq!(progress, Some(r#"{"progress":5}"#));
    assert_eq!(run.cancel_reason.as_deref(), Some("enough"));
    // It is remembered as an adopted run that ended when it was adopted.
    assert_eq!((run.adopted, run.ended_at), (true, Some(9)));
    assert_eq!(found(&runs, "1", &a), Some(id));
}

#[test]
fn what_is_learnt_of_adopted_runs_counts_towards_what_is_remembered() {
    let a = agent("a");
    let mut home = Runs::default();
    let ids = ["1", "2", "3"].map(|name| add(&mut home, name, &a));
    let mut runs = Runs::new(Retention {
        bytes: 11_000,
        ..Retention::default()
    });
    for id in ids {
        assert_eq!(
            runs.adopt(vec![home.shared(id).unwrap()], Uuid::nil(), |_| false, 9),
            [id]
        );
    }
    for (at, id) in (10..).zip(ids) {
        home.cancel_requested(id, Some(&"x".repeat(4_000)), at);
        home.end(id, Ending::Completed, at);
        assert_eq!(
            runs.adopt(vec![home.shared(id).unwrap()], Uuid::nil(), |_| false, at),
            [id]
        );
    }
    let left = ids.map(|id| runs.get(id).is_some());
    assert_eq!(left, [false, true, true]);
}

#[test]
fn adopted_runs_are_bounded_like_all_others() {
    let a = agent("a");
    let mut gone = Runs::default();
    let ids: Vec<_> = (0..4)
        .map(|at| {
            let id = add(&mut gone, "x", &a);
            gone.end(id, Ending::Completed, at);
            id
        })
        .collect();
    let mut runs = Runs::new(Retention {
        count: 3,
        time: Duration::from_millis(10),
        ..Retention::default()
    });
    let own = add(&mut runs, "own", &a);
    runs.end(own, Ending::Completed, 2);
    let adopted = runs.adopt(gone.visible(&a, 3), Uuid::nil(), |_| false, 11);
    assert_eq!(
        adopted.len(),
        2,
        "the first is too old, and there is one too many"
    );
    let left = |id: &RunId| runs.get(*id).is_some();
    assert!(left(&ids[2]) && left(&ids[3]) && left(&own) && !left(&ids[1]));
}

#[test]
fn what_an_older_worker_has_written_of_a_run_is_still_read() {
    let a = agent("a");
    let mut runs = Runs::default();
    let id = add(&mut runs, "7", &a);
    runs.end(id, Ending::Cancelled(Stop::Abandoned, None), 5);
    let late = LateEnd {
        success: true,
        after: 200.0,
    };
    runs.ended_late(id, late);
    let mut written = serde_json::to_value(runs.get(id).unwrap()).unwrap();
    let read = |written: &serde_json::Value| -> Run {
        serde_json::from_str(&written.to_string()).unwrap()
    };
    let same = read(&written);
    assert_eq!(
        (same.stop(), same.late_end),
        (Some(Stop::Abandoned), Some(late))
    );
    for unknown in ["vanished".into(), serde_json::Value::Null, 7.into()] {
        written["stop"] = unknown;
        assert_eq!(read(&written).stop(), Some(Stop::Abandoned));
    }
    let fields = written.as_object_mut().unwrap();
    for newer in ["stop", "ended"] {
        assert!(fields.remove(newer).is_some());
    }
    let older = read(&written);
    assert_eq!(
        (older.stop(), older.late_end),
        (Some(Stop::Abandoned), None)
    );
}

#[test]
fn only_the_first_end_of_abandoned_work_counts() {
    let a = agent("a");
    let mut runs = Runs::default();
    let ended = |success| LateEnd {
        success,
        after: 1.0,
    };
    for stop in Stop::ALL {
        let id = add(&mut runs, stop.as_str(), &a);
        runs.ended_late(id, ended(true));
        runs.end(id, Ending::Cancelled(stop, None), 5);
        runs.take_news();
        runs.ended_late(id, ended(true));
        runs.ended_late(id, ended(false));
        let expected = (stop == Stop::Abandoned).then_some(ended(true));
        assert_eq!(runs.get(id).unwrap().late_end, expected, "{stop:?}");
        assert_eq!(runs.take_news().len(), usize::from(expected.is_some()));
    }
}

#[test]
fn copies_of_runs_end_when_the_process_they_were_made_in_is_back() {
    let (a, home) = (agent("a"), Uuid::new_v4());
    let mut gone = Runs::default();
    let flying = add(&mut gone, "flying", &a);
    let mut runs = Runs::default();
    let own = add(&mut runs, "own", &a);
    let seven = add(&mut runs, "7", &a);
    runs.end(seven, Ending::Completed, 2);
    runs.adopt(gone.visible(&a, 5), home, |_| false, 9);
    // The worker that has them goes as well, and yet another takes what it had.
    let mut third = Runs::default();
    let copies = runs.visible(&a, 9);
    let adopted = third.adopt(copies.clone(), Uuid::new_v4(), |_| false, 10);
    assert_eq!(adopted.len(), 3);
    third.give_back(home);
    assert!(third.get(flying).is_none() && third.get(own).is_some());
    assert!(matches!(third.take_news().last(), Some(News::Forgotten(id)) if *id == flying));
    assert!(
        third
            .adopt(copies, Uuid::new_v4(), |it| it == home, 10)
            .is_empty()
    );
    runs.give_back(home);
    assert_eq!(found(&runs, "flying", &a), None);
    assert_eq!(found(&runs, "7", &a), Some(seven));
    // What it took is free again, and its place is not forgotten twice.
    runs.expire(u64::MAX);
    assert_eq!(runs.ids(), [own]);
}
