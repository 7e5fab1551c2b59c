//! Several connections of one app, such as tabs: distinguishing, listing and addressing them.

use caphost_gateway::{Config, Tokens};
use serde_json::{Value, json};

use crate::request::bearer;
use crate::support::*;

/// A tab of the app with that title.
pub async fn tab(gateway: &Gateway, path: &str, title: Value) -> Peer {
    let mut app = gateway.peer(path).await;
    let mut registration = register("demo");
    registration["payload"]["title"] = title;
    app.send(registration).await;
    assert_eq!(app.next().await["type"], "app/registered");
    app
}

fn shown(token: &str) -> String {
    match token {
        "" => String::new(),
        token => bearer(token),
    }
}

/// The instances of the app that a token sees.
pub async fn instances(gateway: &Gateway, token: &str) -> Vec<Value> {
    let listed = gateway.get("/api/apps", &shown(token)).await;
    assert_eq!(listed.status, 200, "{}", listed.body);
    let list = listed.json();
    assert!(list["now"].as_u64().unwrap() > 1_700_000_000_000);
    let demo = list["apps"].as_array().unwrap().iter();
    let demo = demo.filter(|app| app["id"] == "demo");
    let all = demo.flat_map(|app| app["instances"].as_array().unwrap().clone());
    all.collect()
}

/// The name of an instance in the form for a URL.
pub fn in_url(instance: &Value) -> String {
    instance["app"].as_str().unwrap().replace('#', "%23")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tab_is_listed_and_can_be_meant() {
    let gateway = Gateway::start().await;
    assert_eq!(instances(&gateway, "").await, [] as [Value; 0]);
    let mut first = tab(&gateway, "/abp/app", json!("  One of two  ")).await;
    let mut second = tab(&gateway, "/abp/app", json!("é".repeat(300))).await;
    assert_eq!(first.next().await["type"], "app/superseded");
    let mut agent = gateway.peer("/abp?app=demo").await;
    agent.initialize(&mut second).await;
    let listed = instances(&gateway, "").await;
    let titles = ["é".repeat(200), "One of two".into()];
    for (index, instance) in listed.iter().enumerate() {
        let is_latest = index == 0;
        assert_eq!(
            *instance,
            json!({
                "app": instance["app"], "title": titles[index], "owner": "anyone",
                "since": instance["since"], "agents": usize::from(is_latest), "latest": is_latest,
                "suspended": false,
            })
        );
        assert!(instance["app"].as_str().unwrap().starts_with("demo#"));
    }
    assert!(listed[0]["since"].as_u64() > listed[1]["since"].as_u64());

    // The older instance is addressed by its name, in each dialect.
    let older = in_url(&listed[1]);
    let mut meant = gateway.peer(&format!("/abp?app={older}")).await;
    meant.initialize(&mut first).await;
    meant.call_through(&mut first).await;
    let manifest = gateway.get(&format!("/abp.json?app={older}"), "").await;
    assert_eq!(manifest.json()["app"]["id"], "demo");
    let mut rpc = gateway.peer(&format!("/jsonrpc?app={older}")).await;
    let params = json!({ "capability": "a.b" });
    rpc.send(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/call", "params": params }),
    )
    .await;
    assert_eq!(first.next().await["type"], "initialize");

    // A missing instance is not replaced by another.
    let mut lost = gateway.peer("/abp?app=demo%2300000000").await;
    lost.send(request("initialize", "1", json!({}))).await;
    let refused = lost.next().await;
    assert_eq!(code(&refused), "DISCONNECTED");
    let error = &refused["payload"]["error"];
    assert_eq!(error["details"]["apps"], json!(["demo"]), "{error}");
    drop(second);
    soon("the end of the tab", async {
        while instances(&gateway, "").await.len() > 1 {}
    })
    .await;
    let left = instances(&gateway, "").await;
    assert_eq!(
        (&left[0]["app"], &left[0]["latest"]),
        (&listed[1]["app"], &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_sees_and_means_instances_of_the_apps_it_is_for() {
    let tokens = [
        "app=app",
        "agent@demo=demo",
        "agent@other=other",
        "agent=any",
    ];
    let tokens = Tokens::new(tokens.iter().map(|it| it.parse().unwrap()).collect());
    let gateway = Gateway::with(Config { tokens, ..config() }).await;
    let mut app = tab(&gateway, "/abp/app?token=app", json!(7)).await;
    for (token, count) in [("demo", 1), ("any", 1), ("other", 0)] {
        assert_eq!(instances(&gateway, token).await.len(), count, "{token}");
    }
    for (token, status) in [("", 401), ("app", 403), ("wrong", 401)] {
        let refused = gateway.get("/api/apps", &shown(token)).await;
        assert_eq!(refused.status, status, "{token}");
    }
    let instance = &instances(&gateway, "demo").await[0];
    assert_eq!(
        (&instance["title"], &instance["owner"]),
        (&Value::Null, &json!("app-0"))
    );
    let older = in_url(instance);
    let mut agent = gateway.peer(&format!("/abp?app={older}&token=demo")).await;
    agent.initialize(&mut app).await;
    let mut stranger = gateway.peer(&format!("/abp?app={older}&token=other")).await;
    stranger.send(request("initialize", "1", json!({}))).await;
    assert_eq!(code(&stranger.next().await), "PERMISSION_DENIED");
    for (token, status) in [("demo", 200), ("other", 403)] {
        let manifest = gateway
            .get(&format!("/abp.json?app={older}"), &bearer(token))
            .await;
        assert_eq!(manifest.status, status, "{token}: {}", manifest.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_app_is_called_as_an_instance_is() {
    let gateway = Gateway::start().await;
    let mut app = gateway.peer("/abp/app").await;
    app.send(register("demo#1")).await;
    let refused = app.next().await;
    assert_eq!(
        (&refused["type"], code(&refused)),
        (&json!("app/refused"), "INVALID_PARAMS")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_app_says_of_its_instance_itself_is_not_believed() {
    let gateway = Gateway::start().await;
    let mut app = gateway.peer("/abp/app").await;
    let mut registration = register("demo");
    registration["payload"]["instance"] =
        json!({ "id": "mine", "owner": "admin", "since": 9e15 as u64 });
    app.send(registration).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let listed = instances(&gateway, "").await;
    assert_ne!(listed[0]["app"], "demo#mine");
    assert_eq!(listed[0]["owner"], "anyone");
    tab(&gateway, "/abp/app", Value::Null).await;
    assert_eq!(app.next().await["type"], "app/superseded");
}
