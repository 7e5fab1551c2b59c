//! Several connections of one app to several workers.

use caphost_gateway::Tokens;
use serde_json::json;

use super::*;
use crate::instances::{in_url, instances, tab};

/// Waits until a worker knows `count` instances. Returns them.
async fn known(worker: &Gateway, token: &str, count: usize) -> Vec<Value> {
    let looking = async {
        loop {
            let all = instances(worker, token).await;
            if all.len() == count {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the instances", looking).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_worker_knows_which_is_the_latest_and_the_one_before_is_told() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut first = tab(&one, "/abp/app", json!("First")).await;
    known(&two, "", 1).await;
    let mut second = tab(&two, "/abp/app", json!("Second")).await;
    let told = first.next().await;
    assert_eq!(
        (&told["type"], &told["payload"]),
        (&json!("app/superseded"), &json!({ "appId": "demo" }))
    );
    let seen = [known(&one, "", 2).await, known(&two, "", 2).await];
    assert_eq!(seen[0], seen[1]);
    let titles = seen[0].iter().map(|it| it["title"].clone());
    assert_eq!(titles.collect::<Vec<_>>(), ["Second", "First"]);

    // A worker that comes later knows the same instances, and nobody is told again.
    let three = Gateway::with(part_of(&redis)).await;
    met(&[&one, &two, &three]).await;
    assert_eq!(known(&three, "", 2).await, seen[0]);
    for worker in [&one, &two, &three] {
        let mut agent = worker.peer("/abp?app=demo").await;
        agent.initialize(&mut second).await;
        let older = in_url(&seen[0][1]);
        let mut meant = worker.peer(&format!("/abp?app={older}")).await;
        meant.initialize(&mut first).await;
        // The agent and the app leave.
        drop((agent, meant));
        assert_eq!(first.next().await["type"], "agent/closed");
        assert_eq!(second.next().await["type"], "agent/closed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_an_instance_is_every_worker_knows() {
    let redis = Redis::start();
    let tokens = || {
        let tokens = ["app=one", "app=two", "admin=root"];
        Tokens::new(tokens.iter().map(|it| it.parse().unwrap()).collect())
    };
    let with_tokens = || Config {
        tokens: tokens(),
        ..part_of(&redis)
    };
    let one = Gateway::with(with_tokens()).await;
    let two = Gateway::with(with_tokens()).await;
    met(&[&one, &two]).await;
    let mut first = tab(&one, "/abp/app?token=one", json!(null)).await;
    known(&two, "root", 1).await;
    let _second = tab(&two, "/abp/app?token=two", json!(null)).await;
    assert_eq!(first.next().await["type"], "app/superseded");
    for worker in [&one, &two] {
        let owners = known(worker, "root", 2).await;
        let owners: Vec<_> = owners.iter().map(|it| it["owner"].clone()).collect();
        assert_eq!(owners, [json!("app-1"), json!("app-0")]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_has_come_to_offer_much_is_known_to_workers_that_join_later() {
    let redis = Redis::start();
    let one = Gateway::with(part_of(&redis)).await;
    let mut app = one.app("demo").await;
    for name in ["c", "d", "e"] {
        let schema = json!({ "title": "x".repeat(500_000) });
        let added = [json!({ "name": name, "inputSchema": schema })];
        let update = request("app/update", name, json!({ "added": added }));
        app.send(update).await;
    }
    let all = |worker: &Gateway| {
        let offer = worker.hub.offer(Some("demo"));
        offer.is_ok_and(|offer| offer.capabilities.len() == 4)
    };
    until("what it offers", || all(&one)).await;
    let two = Gateway::with(part_of(&redis)).await;
    until("the app", || all(&two)).await;
}
