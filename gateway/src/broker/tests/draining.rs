//! Workers that are about to stop: this worker, and other workers with apps.

use serde_json::json;

use super::*;

/// An app of another worker.
fn app_elsewhere(bench: &mut Bench, peer: u64, since: u64) {
    bench.event(Event::AppJoined {
        peer: PeerId(peer),
        identity: Some(Identity::anyone()),
        seat: Seat::Elsewhere,
    });
    let mut message = register("demo");
    message["payload"]["instance"] =
        json!({ "id": peer.to_string(), "owner": "anyone", "since": since });
    bench.send(peer, message);
}

fn drains(bench: &mut Bench, peer: u64) {
    let peer = PeerId(peer);
    assert_eq!(bench.event(Event::AppDraining { peer }), []);
}

fn initialize(bench: &mut Bench, agent: u64) -> Vec<Seen> {
    bench.send(agent, request("initialize", "i", json!({})))
}

#[test]
fn new_sessions_go_to_an_instance_whose_worker_stays() {
    let mut bench = Bench::new();
    app_elsewhere(&mut bench, 1, 2_000);
    app_elsewhere(&mut bench, 2, 3_000);
    bench.agent(4, None);
    assert_eq!(only(&initialize(&mut bench, 4), 2)["type"], "initialize");
    bench.broker.take_offered();
    drains(&mut bench, 2);
    let offered = bench.broker.take_offered();
    assert_eq!(
        offered.len(),
        1,
        "what the app offers may be something else now"
    );
    bench.agent(5, None);
    assert_eq!(only(&initialize(&mut bench, 5), 1)["type"], "initialize");
    let listed = bench.broker.connected(&Identity::anyone());
    let order = listed[0].instances.iter().map(|it| &*it.instance.id);
    assert_eq!(order.collect::<Vec<_>>(), ["1", "2"]);
    // An earlier session stays on its instance.
    let refused = bench.send(4, call("c", "c"));
    assert_eq!(code(only(&refused, 4)), "CAPABILITY_UNAVAILABLE");
}

#[test]
fn where_there_is_no_other_instance_nothing_reaches_the_app() {
    let mut bench = Bench::new();
    app_elsewhere(&mut bench, 1, 2_000);
    drains(&mut bench, 1);
    for wanted in [None, Some("demo"), Some("demo#1")] {
        bench.agent(4, wanted);
        let refused = initialize(&mut bench, 4);
        assert_eq!(only(&refused, 4)["type"], "initialize-result");
        assert_eq!(code(only(&refused, 4)), "CAPABILITY_UNAVAILABLE");
        bench.gone(4);
    }
}

#[test]
fn an_agent_of_a_worker_that_has_not_heard_of_it_is_told_why() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    bench.event(Event::Drain);
    let joined = bench.event(Event::AgentJoined {
        peer: PeerId(2),
        app: Wanted::Peer(PeerId(1)),
        profile: Profile {
            dialect: Dialect::Abp,
            owner: Identity::anyone(),
            quota_key: "anyone".into(),
            name: None,
            seat: Seat::Elsewhere,
        },
    });
    assert_eq!(joined, []);
    let refused = initialize(&mut bench, 2);
    assert_eq!(code(only(&refused, 2)), "CAPABILITY_UNAVAILABLE");
    assert_eq!(bench.agent(3, None), [Seen::Closed(3, 1001)]);
}
