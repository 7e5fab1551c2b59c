//! Workers that stop while other workers go on.

use super::*;
use crate::instances::instances;

fn draining(redis: &Redis) -> Config {
    Config {
        drain: Duration::from_secs(60),
        ..patient(redis, Limits::default())
    }
}

/// A worker that drains with a call in flight on its app, and another worker with the agent that calls.
struct Draining {
    one: Gateway,
    app: Peer,
    agent: Peer,
    held: Value,
}

impl Draining {
    async fn begin(mut one: Gateway, mut app: Peer, two: &Gateway) -> Self {
        let mut agent = agent_on(two, &mut app).await;
        let held = called(&mut agent, &mut app, "held").await;
        one.stop();
        one.drains().await;
        Draining {
            one,
            app,
            agent,
            held,
        }
    }

    /// The call in flight ends, and the worker with it. The app has seen no other call.
    async fn end(mut self) {
        succeed(&mut self.agent, &mut self.app, &self.held).await;
        assert_eq!(self.app.closed().await, 1001);
        drop(self.app);
        self.one.stopped().await;
    }
}

async fn draining_pair(redis: &Redis) -> (Gateway, Gateway) {
    let one = Gateway::with(draining(redis)).await;
    let two = Gateway::with(draining(redis)).await;
    met(&[&one, &two]).await;
    (one, two)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_sessions_with_its_app_are_refused_and_nothing_of_them_is_unknown() {
    let redis = Redis::start();
    let (one, two) = draining_pair(&redis).await;
    let app = one.app("demo").await;
    let draining = Draining::begin(one, app, &two).await;
    let mut late = two.agent().await;
    late.send(request("initialize", "i", json!({}))).await;
    let refused = late.next().await;
    assert_eq!(refused["type"], "initialize-result");
    assert_eq!(code(&refused), "CAPABILITY_UNAVAILABLE", "{refused}");

    let mut rpc = two.peer("/jsonrpc").await;
    let params = json!({ "capability": "a.b" });
    rpc.send(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/call", "params": params }),
    )
    .await;
    let refused = rpc.next().await;
    let said = &refused["error"]["data"]["code"];
    assert_eq!(said, "CAPABILITY_UNAVAILABLE", "{refused}");
    let runs = two.get("/api/runs", "").await.json();
    let states = runs["runs"].as_array().unwrap().iter();
    let states: Vec<_> = states.map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["failed", "running"], "{runs}");
    draining.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_sessions_go_to_an_instance_on_another_worker() {
    let redis = Redis::start();
    let (one, two) = draining_pair(&redis).await;
    let mut older = two.app("demo").await;
    let offered = || one.hub.offer(None).is_ok();
    until("the older instance", offered).await;
    let name = instances(&two, "").await[0]["app"].clone();
    let app = one.app("demo").await;
    assert_eq!(older.next().await["type"], "app/superseded");
    let draining = Draining::begin(one, app, &two).await;
    // This worker joins while the other drains, and is told of it.
    let three = Gateway::with(patient(&redis, Limits::default())).await;
    for worker in [&draining.one, &two, &three] {
        let heard = async {
            loop {
                let listed = instances(worker, "").await;
                if listed.len() == 2 && listed[0]["app"] == name {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        soon("new sessions going to the older instance", heard).await;
    }
    for worker in [&two, &three] {
        let mut agent = worker.agent().await;
        agent.initialize(&mut older).await;
        agent.call_through(&mut older).await;
        drop(agent);
        assert_eq!(older.next().await["type"], "agent/closed");
    }
    draining.end().await;
}
