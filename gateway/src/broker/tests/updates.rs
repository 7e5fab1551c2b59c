//! Apps that report changes of their capabilities.

use serde_json::json;

use super::*;

fn update(payload: Value) -> Value {
    json!({ "type": "app/update", "id": "u", "payload": payload })
}

/// The app's capabilities, by name and description.
fn offered(bench: &Bench) -> Vec<(String, String)> {
    let offer = bench.broker.apps().offer(None).unwrap();
    let pair = |it: &crate::broker::CapabilityInfo| {
        (it.name.clone(), it.description.clone().unwrap_or_default())
    };
    offer.capabilities.iter().map(pair).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(name, description)| (name.to_string(), description.to_string()))
        .collect()
}

#[test]
fn an_app_is_told_that_it_may_send_differences() {
    let mut bench = Bench::new();
    let seen = bench.app(1, "demo");
    assert_eq!(only(&seen, 1)["payload"]["updates"], "differences");
}

#[test]
fn a_difference_changes_what_is_offered() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    bench.broker.take_offered();
    let more = json!({ "added": [{ "name": "c" }, { "name": "a", "description": "first" }] });
    assert!(bench.send(1, update(more)).is_empty());
    assert_eq!(
        offered(&bench),
        pairs(&[("a", "first"), ("a.b", "d"), ("c", "")])
    );
    let both = json!({ "added": [{ "name": "a", "description": "again" }], "removed": ["c", "a"] });
    assert!(bench.send(1, update(both)).is_empty());
    assert_eq!(offered(&bench), pairs(&[("a", "again"), ("a.b", "d")]));
    assert!(
        bench
            .send(1, update(json!({ "removed": ["a.b"] })))
            .is_empty()
    );
    assert_eq!(offered(&bench), pairs(&[("a", "again")]));
    assert_eq!(bench.broker.take_offered().len(), 3);
    // The manifest shows the change.
    let manifest: Value =
        serde_json::from_str(&bench.broker.apps().shown(None).unwrap().0.manifest()).unwrap();
    assert_eq!(
        manifest["capabilities"],
        json!([{ "name": "a", "description": "again" }])
    );
    // A complete list of capabilities is still accepted.
    let all = json!({ "capabilities": [{ "name": "z" }, { "name": "y" }] });
    assert!(bench.send(1, update(all)).is_empty());
    assert_eq!(offered(&bench), pairs(&[("z", ""), ("y", "")]));
}

#[test]
fn a_wrong_difference_is_refused_and_changes_nothing() {
    let mut bench = Bench::session();
    bench.broker.take_offered();
    for (payload, path) in [
        (json!({}), "payload"),
        (json!({ "capabilities": [], "removed": [] }), "payload"),
        (json!({ "added": 7 }), "added"),
        (json!({ "added": [{ "name": "new" }, {}] }), "added[1]"),
        (json!({ "added": [{ "name": "" }] }), "added[0].name"),
        (
            json!({ "capabilities": [{ "name": "x".repeat(257) }] }),
            "capabilities[0].name",
        ),
        (
            json!({ "capabilities": [{ "name": "a" }, { "name": "a" }] }),
            "capabilities[1].name",
        ),
        (
            json!({ "added": [{ "name": "new" }, { "name": "a.b" }] }),
            "added[1].name",
        ),
        (
            json!({ "added": [{ "name": "new" }, { "name": "new" }] }),
            "added[1].name",
        ),
        (json!({ "removed": "a.b" }), "removed"),
        (json!({ "removed": ["a.b", 7] }), "removed"),
        (json!({ "removed": ["none"] }), "removed[0]"),
        (json!({ "removed": ["a.b", "a.b"] }), "removed[1]"),
    ] {
        let seen = bench.send(1, update(payload.clone()));
        let answer = only(&seen, 1);
        assert_eq!(
            (&answer["type"], &answer["id"], code(answer)),
            (&json!("error"), &json!("u"), "INVALID_PARAMS"),
            "{payload}"
        );
        assert_eq!(
            answer["payload"]["error"]["details"]["path"], path,
            "{answer}"
        );
        assert_eq!(offered(&bench), pairs(&[("a.b", "d")]), "{payload}");
    }
    assert!(bench.broker.take_offered().is_empty());
    goes_on(&mut bench, 2);
}

#[test]
fn differences_do_not_add_up_to_more_than_one_message_may_hold() {
    let limits = Limits {
        message_bytes: 4_000,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    let add = |index: usize| {
        let more = json!({ "name": format!("n{index}"), "description": "d".repeat(1_000) });
        update(json!({ "added": [more] }))
    };
    for index in 0..3 {
        assert!(bench.send(1, add(index)).is_empty());
    }
    let seen = bench.send(1, add(3));
    let details = &only(&seen, 1)["payload"]["error"]["details"];
    assert_eq!(details, &json!({ "limit": "messageBytes", "max": 4_000 }));
    // An update that makes room for itself is accepted.
    let mut swap = add(3);
    swap["payload"]["removed"] = json!(["n0"]);
    assert!(bench.send(1, swap).is_empty());
    assert_eq!(offered(&bench).len(), 4);
}

#[test]
fn thousands_of_differences_come_to_the_same_as_all_at_once() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let documents: Vec<_> = (0..2_000)
        .map(|index| json!({ "name": format!("name.{index}"), "description": "d".repeat(100) }))
        .collect();
    let (mut sent, mut alone) = (0, 0);
    for document in &documents {
        let message = update(json!({ "added": [document] })).to_string();
        sent += message.len();
        alone += document.to_string().len();
        assert!(bench.text(1, &message).is_empty());
    }
    assert!(sent < 2 * alone, "{sent} bytes for {alone}");
    let by_differences = offered(&bench);
    bench.send(1, update(json!({ "capabilities": documents })));
    let mut at_once = offered(&bench);
    at_once.push(("a.b".into(), "d".into()));
    at_once.sort();
    assert_eq!(by_differences, at_once);
}
