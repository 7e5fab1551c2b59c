use super::*;

#[test]
fn a_late_end_is_read_as_it_was_written() {
    for (after, written) in [
        (200.0, r#"{"after":200,"success":true}"#),
        (200.125, r#"{"after":200.125,"success":true}"#),
    ] {
        let ended = LateEnd {
            success: true,
            after,
        };
        assert_eq!(ended_json(ended).to_string(), written);
        let value = serde_json::from_str(written).unwrap();
        assert_eq!(late_end(&value), Some(ended));
    }
    let negative = late_end(&json!({ "success": false, "after": -1, "more": [] }));
    assert_eq!(negative.map(|it| it.after), Some(0.0));
    for bad in [
        json!({ "success": true }),
        json!({ "success": 1, "after": 1 }),
        json!(1),
        json!(null),
    ] {
        assert_eq!(late_end(&bad), None, "{bad}");
    }
}

#[test]
fn what_a_peer_says_of_a_cancelled_call_is_read() {
    let dropped = read(&json!({ "stop": "dropped" }));
    assert_eq!(dropped, Stop::Dropped.into());
    assert_eq!(read(&json!(null)), Stop::Abandoned.into());
    let ended = LateEnd {
        success: false,
        after: 7.0,
    };
    let by = StoppedBy::of_peer(Some("terminate"), Some(2_550.0));
    for (by, late_end) in [(None, Some(ended)), (by, None), (by, Some(ended))] {
        let stop = Stop::Abandoned;
        let grade = Grade { stop, by, late_end };
        assert_eq!(read(&metadata(grade)), grade);
    }
}

#[test]
fn every_grade_has_words_of_its_own() {
    for stop in Stop::ALL {
        assert!(sentence(stop).ends_with(&format!(" ({}).", stop.as_str())));
    }
    let by = StoppedBy::of_peer(Some("terminate"), Some(57.0));
    let stop = Stop::Terminated;
    assert_eq!(
        clause(Grade { by, ..stop.into() }),
        "; the work has ended: its worker was ended after 57 ms"
    );
    let said = [Stop::NeverStarted, Stop::Returned, Stop::Abandoned].map(|it| clause(it.into()));
    assert!(said[0] != said[1] && said[1] != said[2]);
    let late = |after| {
        let ended = LateEnd {
            success: false,
            after,
        };
        clause(Grade {
            late_end: Some(ended),
            ..Stop::Abandoned.into()
        })
    };
    assert!(late(212.0).ends_with("it ended 212 ms later, with an error"));
    assert!(late(200_000.0).ends_with("it ended 3 min later, with an error"));
}
