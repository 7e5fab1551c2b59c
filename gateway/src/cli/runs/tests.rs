use serde_json::json;

use super::*;

fn plain(run: Value) -> Vec<String> {
    let row = row(&run, 100_000.0);
    row.iter()
        .map(|it| console::strip_ansi_codes(it).into_owned())
        .collect()
}

#[test]
fn a_run_in_flight_says_how_far_it_is() {
    let run = json!({
        "runId": "r-1", "app": "demo", "capability": "a.b", "owner": "agent-1", "dialect": "mcp",
        "state": "running", "registeredAt": 97_500, "endedAt": null,
        "progress": { "percentage": 47.4 }, "error": null, "cancelReason": null,
    });
    let expected = [
        "r-1",
        "demo",
        "a.b",
        "agent-1 (mcp)",
        "2.5 s",
        "running 47 %",
    ];
    assert_eq!(plain(run), expected);
}

#[test]
fn a_run_whose_outcome_is_not_known_says_who_was_lost() {
    for (lost, said) in [
        (
            json!("agent"),
            "its agent left, and the app did not say how it ended",
        ),
        (json!("app"), "the app went away"),
        (json!("gateway"), "the gateway stopped"),
        // From an older gateway, and from a newer gateway.
        (json!(null), "DISCONNECTED"),
        (json!("moon"), "DISCONNECTED"),
    ] {
        let run = json!({
            "state": "unknown", "registeredAt": 97_500, "endedAt": 98_000, "lost": lost,
            "error": "DISCONNECTED", "cancelReason": "The caller has gone away",
        });
        assert_eq!(plain(run)[5], format!("unknown after 500 ms: {said}"));
    }
}

#[test]
fn a_list_that_may_not_be_whole_says_so() {
    let why = "Redis does not answer: there may be more on other workers";
    let answer = json!({ "now": 1, "omitted": 0, "incomplete": why });
    assert!(shown(&[], &answer).ends_with(&format!("\n{why}")));
    assert!(!shown(&[], &json!({ "now": 1, "omitted": 0 })).contains("Redis"));
}

#[test]
fn a_run_that_has_ended_says_how_and_why() {
    let run = json!({
        "runId": "r-2", "app": null, "capability": "a.b", "owner": "anyone", "dialect": "abp",
        "state": "failed", "registeredAt": 0, "endedAt": 12_000, "error": "OPERATION_FAILED",
    });
    assert_eq!(plain(run)[1], "-");
    let run = json!({ "owner": "agent-1", "dialect": "mcp", "agent": "Mail\nreader" });
    assert_eq!(plain(run)[3], "Mail reader, agent-1 (mcp)");
    let run = json!({ "owner": "anyone", "dialect": "abp", "agent": "caphost" });
    assert_eq!(plain(run)[3], "caphost (abp)");
    assert_eq!(plain(json!({}))[5], "unknown");
    let run = json!({ "state": "cancelled", "registeredAt": 0, "endedAt": 300, "cancelReason": "enough\u{1b}" });
    assert_eq!(
        plain(run.clone())[5],
        "cancelled after 300 ms: \"enough\u{fffd}\""
    );
    for (stop, ended, said) in [
        ("terminated", json!(null), " (terminated)"),
        ("never-started", json!(null), " (never started)"),
        ("abandoned", json!(null), " (abandoned: not seen to stop)"),
        (
            "abandoned",
            json!({ "success": true, "after": 5 }),
            " (abandoned), ended later, successfully",
        ),
        (
            "abandoned",
            json!({ "success": false, "after": 5 }),
            " (abandoned), ended later, with an error",
        ),
    ] {
        let mut run = run.clone();
        run["stop"] = stop.into();
        run["ended"] = ended;
        let expected = format!("cancelled after 300 ms{said}: \"enough\u{fffd}\"");
        assert_eq!(plain(run)[5], expected);
    }
    let run = json!({ "state": "cancelled", "cancelReason": "ü".repeat(500) });
    let expected = format!("cancelled: \"{}…\"", "ü".repeat(60));
    assert_eq!(plain(run)[5], expected);
}

#[test]
fn ages() {
    let said = [0.3, 999.0, 9_940.0, 60_000.0, 180_000.0, 7.2e6, 2e8].map(span);
    assert_eq!(
        said,
        ["0 ms", "999 ms", "9.9 s", "60 s", "3 min", "2 h", "2 d"]
    );
}
