use serde_json::json;

use super::*;
use caphost::call::Code;

#[test]
fn an_app_that_goes_settles_cancels_then_calls_then_closes() {
    let mut bench = Bench::session();
    bench.relayed(2, call("call-1", "c1"));
    bench.relayed(2, call("call-2", "c2"));
    bench.relayed(2, cancel("cancel-2", "c2"));
    bench.relayed(2, request("initialize", "again", json!({})));
    bench.relayed(3, call("call-1", "c1"));
    let seen = bench.gone(1);
    let of_2: Vec<_> = seen
        .iter()
        .filter_map(|it| match it {
            Seen::Message(2, message) => Some(message.clone()),
            _ => None,
        })
        .collect();
    let ids: Vec<_> = of_2.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["again", "cancel-2", "call-1", "call-2"]);
    assert!(
        of_2.iter()
            .all(|it| code(it) == Code::DISCONNECTED.as_str())
    );
    assert_eq!(of_2[1]["payload"]["callId"], "c2");
    assert_eq!(of_2[1]["payload"]["cancelled"], false);
    assert_eq!(
        of_2[1]["payload"]["reason"],
        "The app disconnected before it confirmed"
    );
    assert_eq!(of_2[2]["payload"]["success"], false);
    assert!(
        of_2[2]["payload"].get("cancelled").is_none(),
        "the outcome is unknown"
    );
    assert_eq!(of_2[2]["payload"]["error"]["retryable"], true);
    assert_eq!(seen[4], Seen::Closed(2, 4001));
    assert_eq!(*seen.last().unwrap(), Seen::Closed(3, 4001));
    assert_eq!(
        (bench.broker.in_flight(), bench.broker.peers()),
        (0, (0, 0))
    );
}

#[test]
fn an_agent_that_goes_is_reported_and_its_late_answers_dropped() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let seen = bench.gone(2);
    assert_eq!(only(&seen, 1)["type"], "agent/closed");
    assert_eq!(only(&seen, 1)["agent"], calling["agent"]);
    assert_eq!(only(&seen, 1)["payload"], json!({}));
    assert_eq!(bench.broker.in_flight(), 0);
    assert!(
        bench
            .send(1, answer(&calling, "capabilities/call-result", json!({})))
            .is_empty()
    );
    assert_eq!(bench.broker.counters().strays_dropped, 1);
    assert!(bench.gone(2).is_empty());
}

#[test]
fn an_agent_without_a_session_goes_unnoticed() {
    let mut bench = Bench::session();
    bench.agent(9, None);
    assert!(bench.gone(9).is_empty());
}

#[test]
fn late_repeated_and_invented_answers_are_dropped_and_counted() {
    let mut bench = Bench::session();
    let calling = bench.relayed(2, call("1", "c"));
    let done = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true }),
    );
    let mut invented = done.clone();
    invented["id"] = json!("g999");
    assert!(bench.send(1, invented).is_empty());
    let mut of_another_type = done.clone();
    of_another_type["type"] = json!("capabilities/cancel-result");
    assert!(bench.send(1, of_another_type).is_empty());
    only(&bench.send(1, done.clone()), 2);
    assert!(bench.send(1, done).is_empty());
    assert_eq!(bench.broker.counters().answers_dropped, 3);
}

#[test]
fn an_app_cannot_answer_for_another() {
    let mut bench = Bench::session();
    bench.app(7, "other");
    let calling = bench.relayed(2, call("1", "c"));
    assert!(
        bench
            .send(7, answer(&calling, "capabilities/call-result", json!({})))
            .is_empty()
    );
    // Nor one of its agents' requests with another agent's name.
    let of_3 = bench.relayed(3, call("1", "c"));
    let mut swapped = answer(&calling, "capabilities/call-result", json!({}));
    swapped["agent"] = of_3["agent"].clone();
    assert!(bench.send(1, swapped).is_empty());
    assert_eq!(bench.broker.in_flight(), 2);
}

#[test]
fn shutdown_tells_everybody_and_turns_newcomers_away() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    bench.relayed(2, cancel("2", "c"));
    let seen = bench.event(Event::Shutdown);
    let order: Vec<_> = seen
        .iter()
        .map(|it| match it {
            Seen::Message(peer, message) => format!("{peer} {}", message["id"].as_str().unwrap()),
            Seen::Closed(peer, code) => format!("{peer} {code}"),
            Seen::Revoked(run, _) => format!("revoked {run}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(order, ["2 2", "2 1", "2 1001", "3 1001", "1 1001"]);
    assert_eq!(bench.agent(8, None), [Seen::Closed(8, 1001)]);
    assert_eq!(bench.broker.in_flight(), 0);
}
