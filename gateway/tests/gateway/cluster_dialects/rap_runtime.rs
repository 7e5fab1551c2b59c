//! Tool servers that are configured on one worker or on both.

use caphost_gateway::{Config, RuntimeConfig};
use serde_json::json;

use super::workers::Workers;
use crate::rap_runtime::invoked::Invoked;
use crate::rap_runtime::tool_server::Tools;
use crate::rap_runtime::{agent, outcome, quick, until, work};
use crate::support::*;

fn with(server: &str) -> Config {
    Config {
        tool_servers: RuntimeConfig {
            servers: vec![server.parse().unwrap()],
            public: None,
            limits: quick(),
        },
        ..config()
    }
}

fn comes_from(invoked: &Invoked, gateway: &Gateway) -> bool {
    let base = format!("http://{}/rap/callback/", gateway.address);
    invoked.callback().starts_with(&base)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_server_of_one_worker_is_an_app_on_all() {
    let mut tools = Tools::start("tools").await;
    let workers = Workers::with(|| with(&tools.base), config).await;
    let mut agent = agent(&workers.two, "tools").await;
    agent.send(work("c1", json!({}))).await;
    let invoked = tools.invoked().await;
    assert!(comes_from(&invoked, &workers.one));
    invoked.answer(json!({ "text": "done" })).await;
    assert_eq!(outcome(&mut agent, "c1").await["data"], "done");
    // The calls are cancelled from that worker.
    agent.send(work("c2", json!({}))).await;
    let invoked = tools.invoked().await;
    agent.send(cancel("x", "c2")).await;
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
    let ends = [agent.next().await, agent.next().await];
    let kinds = ends.each_ref().map(|it| it["type"].as_str().unwrap());
    assert_eq!(
        kinds,
        ["capabilities/cancel-result", "capabilities/call-result"]
    );
    assert_eq!(ends[1]["payload"]["cancelled"], true);
    drop(agent);
    assert_eq!(tools.next("/base/close_thread").await, invoked.closed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_both_workers_have_is_one_app_and_each_calls_its_own() {
    let mut first = Tools::start("tools").await;
    let mut second = Tools::start("tools").await;
    let there = std::mem::take(&mut *second.wishes.toolset.lock().unwrap());
    let workers = Workers::with(|| with(&first.base), || with(&second.base)).await;
    // The second tool server starts when its worker has heard of the first.
    workers.both_have("tools").await;
    assert!(workers.two.hub.offers_here().is_empty());
    *second.wishes.toolset.lock().unwrap() = there;
    until("the tools", || workers.two.hub.offers_here().len() == 1).await;
    // Workers are told of this app after the tools: a worker that knows this app knows the tools.
    let _last = workers.two.app("last").await;
    workers.both_have("last").await;
    for (gateway, tools) in [(&workers.one, &mut first), (&workers.two, &mut second)] {
        let ids: Vec<_> = gateway.hub.apps().into_iter().map(|app| app.id).collect();
        assert_eq!(ids, ["last", "tools"]);
        let mut agent = agent(gateway, "tools").await;
        agent.send(work("c1", json!({}))).await;
        let invoked = tools.invoked().await;
        assert!(comes_from(&invoked, gateway));
        invoked.answer(json!({ "text": "done" })).await;
        assert_eq!(outcome(&mut agent, "c1").await["data"], "done");
        drop(agent);
        tools.next("/base/close_thread").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_there_at_once_does_not_take_the_id_of_another_app_elsewhere() {
    let tools = Tools::start("tools").await;
    let workers = Workers::start().await;
    let _app = workers.one.app("tools").await;
    workers.both_have("tools").await;
    for _ in 0..3 {
        let three = Gateway::with(Config {
            cluster: workers.redis.options("three"),
            ..with(&tools.base)
        })
        .await;
        until("the tools", || !three.hub.offers_here().is_empty()).await;
        assert_eq!(three.hub.offers_here()[0].1.app.id, "tools-2");
    }
}
