use std::time::Duration;

use super::tests::{add, agent, new_run, unique};
use super::*;

#[test]
fn what_another_worker_keeps_meets_its_run_once() {
    let a = agent("a");
    let mut runs = Calls::default();
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
    let mut runs = Calls::new(Retention {
        count: 2,
        early: Duration::from_millis(10),
        ..Retention::default()
    });
    let [new, old, older] = [1, 2, 3].map(unique);
    for (id, at) in [(&new, 20), (&old, 12), (&older, 11)] {
        runs.cancel_early(EarlyCancel::new(id, None, &a, at), 20);
    }
    let kept = |runs: &Calls, now| {
        let kept = runs.early_cancels(now).into_iter();
        kept.map(|it| it.request_id).collect::<Vec<_>>()
    };
    assert_eq!(kept(&runs, 20), [old, new.clone()]);
    assert_eq!(kept(&runs, 23), [new]);
}

#[test]
fn what_an_older_worker_has_written_of_a_run_is_still_read() {
    let a = agent("a");
    let mut runs = Calls::default();
    let id = add(&mut runs, "7", &a);
    runs.over(id, Ending::Cancelled(Stop::Abandoned, None), 5);
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
    let mut runs = Calls::default();
    let ended = |success| LateEnd {
        success,
        after: 1.0,
    };
    for stop in Stop::ALL {
        let id = add(&mut runs, stop.as_str(), &a);
        runs.ended_late(id, ended(true));
        runs.over(id, Ending::Cancelled(stop, None), 5);
        runs.take_news();
        runs.ended_late(id, ended(true));
        runs.ended_late(id, ended(false));
        let expected = (stop == Stop::Abandoned).then_some(ended(true));
        assert_eq!(runs.get(id).unwrap().late_end, expected, "{stop:?}");
        assert_eq!(runs.take_news().len(), usize::from(expected.is_some()));
    }
}
