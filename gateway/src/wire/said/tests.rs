use super::*;
use caphost::call::{LateEnd, Stop, StoppedBy};

const ENDED: LateEnd = LateEnd {
    success: true,
    after: 200.0,
};

#[test]
fn what_is_said_of_a_stop_is_read() {
    for (payload, cancelled, stop, ended) in [
        (
            r#"{"callId":"c","cancelled":true}"#,
            true,
            Stop::Abandoned,
            None,
        ),
        (
            r#"{"success":false,"cancelled":true,"metadata":{"stop":"returned"}}"#,
            true,
            Stop::Returned,
            None,
        ),
        (
            r#"{"cancelled":true,"metadata":{"ended":{"success":true,"after":200},"stop":"gone"}}"#,
            true,
            Stop::Abandoned,
            Some(ENDED),
        ),
        (
            r#"{"success":true,"cancelled":true}"#,
            false,
            Stop::Abandoned,
            None,
        ),
        (r#"{"cancelled":"true"}"#, false, Stop::Abandoned, None),
        ("[]", false, Stop::Abandoned, None),
    ] {
        let said = said(payload);
        let read = (said.cancelled, said.grade.stop, said.grade.late_end);
        assert_eq!(read, (cancelled, stop, ended), "{payload}");
        assert_eq!(said.exact, stop == Stop::Returned, "{payload}");
    }
}

#[test]
fn a_grade_is_written_beside_what_is_there() {
    for (before, after) in [
        ("{}", r#"{"metadata":{"stop":"dropped"}}"#),
        (
            r#"{ "success": false, "cancelled":true }"#,
            r#"{"success":false,"cancelled":true,"metadata":{"stop":"dropped"}}"#,
        ),
        (
            r#"{"metadata":{"duration":1.5,"stop":"gone","x":{"stop":1}},"cancelled":true}"#,
            r#"{"cancelled":true,"metadata":{"duration":1.5,"x":{"stop":1},"stop":"dropped"}}"#,
        ),
        (r#"{"metadata":7}"#, r#"{"metadata":{"stop":"dropped"}}"#),
        (
            r#"{"text":"\ud800","number":1e400}"#,
            r#"{"text":"\ud800","number":1e400,"metadata":{"stop":"dropped"}}"#,
        ),
    ] {
        assert_eq!(with_grade(before, Stop::Dropped.into()), after);
    }
    let by = StoppedBy::of_peer(Some("terminate"), Some(57.25));
    let ended = Some(ENDED);
    for (by, late_end) in [(None, ended), (by, None), (by, ended)] {
        let stop = Stop::Abandoned;
        let grade = Grade { stop, by, late_end };
        let odd = r#"{"metadata":{"ended":1,"step":"flag","took":-1}}"#;
        assert!(!said(odd).exact);
        let written = with_grade(odd, grade);
        let said = said(&written);
        assert!(said.says(grade) && !said.cancelled, "{written}");
        assert_eq!(said.grade, grade);
    }
}

#[test]
fn what_has_stopped_a_call_is_read_only_as_a_whole() {
    let read = |metadata: &str| {
        let payload = format!(r#"{{"cancelled":true,"metadata":{metadata}}}"#);
        let said = said(&payload);
        (said.grade.by, said.exact)
    };
    let by = StoppedBy::of_peer(Some("signal"), Some(3.0));
    assert_eq!(
        read(r#"{"stop":"returned","step":"signal","took":3}"#),
        (by, true)
    );
    assert_eq!(read(r#"{"stop":"returned"}"#), (None, true));
    for odd in [
        r#"{"stop":"returned","step":"signal"}"#,
        r#"{"stop":"returned","took":3}"#,
        r#"{"stop":"returned","step":"kill","took":3}"#,
        r#"{"stop":"returned","step":"signal","took":"3"}"#,
        r#"{"stop":"returned","step":"signal","took":-3}"#,
        r#"{"stop":"returned","step":"signal","took":1e400}"#,
        r#"{"stop":"returned","step":7,"took":3}"#,
    ] {
        assert_eq!(read(odd), (None, false), "{odd}");
    }
}
