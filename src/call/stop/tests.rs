use super::*;

#[test]
fn a_word_is_read_as_it_was_written() {
    for stop in Stop::ALL {
        assert_eq!(Stop::of_peer(Some(stop.as_str())), stop);
    }
}

#[test]
fn a_peer_that_does_not_say_has_shown_nothing() {
    for word in [None, Some(""), Some("stopped"), Some("Dropped")] {
        assert_eq!(Stop::of_peer(word), Stop::Abandoned);
    }
}

#[test]
fn what_has_stopped_a_call_is_read_only_as_a_whole() {
    let by = StoppedBy::of_peer(Some("flag"), Some(57.000_123_4));
    let expected = StoppedBy {
        step: Step::Flag,
        took: 57.0,
    };
    assert_eq!(by, Some(expected));
    for (step, took) in [
        (None, Some(1.0)),
        (Some("Flag"), Some(1.0)),
        (Some("abort"), Some(1.0)),
        (Some("flag"), None),
        (Some("flag"), Some(-1.0)),
        (Some("flag"), Some(f64::NAN)),
        (Some("flag"), Some(f64::INFINITY)),
    ] {
        assert_eq!(StoppedBy::of_peer(step, took), None, "{step:?} {took:?}");
    }
    let huge = StoppedBy::of_peer(Some("flag"), Some(f64::MAX));
    assert_eq!(huge.map(|by| by.took), Some(f64::MAX));
}

#[test]
fn a_late_end_is_read_only_as_a_whole() {
    let ended = LateEnd::of_peer(Some(false), Some(-1.0));
    assert_eq!(ended.map(|it| (it.success, it.after)), Some((false, 0.0)));
    for (success, after) in [
        (None, Some(1.0)),
        (Some(true), None),
        (Some(true), Some(f64::NAN)),
    ] {
        assert_eq!(LateEnd::of_peer(success, after), None);
    }
}

#[test]
fn the_weakest_is_the_greatest() {
    assert_eq!(Stop::Dropped.max(Stop::Abandoned), Stop::Abandoned);
    assert_eq!(Stop::ALL.iter().max(), Some(&Stop::Abandoned));
    assert!(Stop::ALL.is_sorted());
}

#[test]
fn a_grade_is_shown_as_its_word() {
    let shown = Stop::ALL.map(|it| it.to_string());
    assert_eq!(shown, Stop::ALL.map(Stop::as_str));
}
