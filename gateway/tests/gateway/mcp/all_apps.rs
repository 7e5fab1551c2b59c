//! All apps behind one address.

use std::time::Duration;

use caphost_gateway::{Config, Tokens};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::app::{called, confirm_cancel, demo, offer, succeed};
use super::client::*;
use super::stateless::post;
use crate::support::*;

const LIST_CHANGED: &str = "notifications/tools/list_changed";

async fn tools(client: &Client) -> Vec<Value> {
    let answer = say(client, "l", "tools/list", json!({})).await;
    answer.last().await["result"]["tools"]
        .as_array()
        .unwrap()
        .clone()
}

async fn names(client: &Client) -> Vec<String> {
    let tools = tools(client).await.into_iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_string())
        .collect()
}

/// A client with a session, and a client without one.
async fn clients(gateway: &Gateway, path: &str) -> [Client; 2] {
    [
        Client::open(gateway, path).await,
        Client::new(gateway, path),
    ]
}

async fn say(client: &Client, id: impl Into<Value>, method: &str, params: Value) -> Events {
    let response = match client.session {
        Some(_) => client.post(&rpc(id, method, params)).await,
        None => post(client, &modern(id, method, params)).await,
    };
    assert_eq!(response.status(), 200);
    Events(response)
}

async fn begin(client: &Client, id: u64, name: &str) -> Events {
    let params = json!({ "name": name, "arguments": {} });
    say(client, id, "tools/call", params).await
}

async fn changed(events: &mut Events) {
    assert_eq!(events.next().await.unwrap()["method"], LIST_CHANGED);
}

#[tokio::test]
async fn the_tools_of_all_apps_are_listed_and_each_call_goes_to_its_app() {
    let gateway = Gateway::start().await;
    let clients = clients(&gateway, "/mcp").await;
    let one = demo(&gateway).await;
    let two = offer(
        &gateway,
        "two",
        json!([{ "name": "echo" }, { "name": "x" }]),
    )
    .await;
    let mut apps = [one, two];
    for client in &clients {
        assert_eq!(
            names(client).await,
            ["export_pdf", "demo_echo", "two_echo", "x"]
        );
        let listed = tools(client).await;
        let ids = listed.iter().map(|it| &it["_meta"]["caphost/app"]);
        assert!(ids.eq(["demo", "demo", "two", "two"]), "{listed:?}");
        for (id, name, at, capability) in [
            (1, "x", 1, "x"),
            (2, "export_pdf", 0, "export.pdf"),
            (3, "demo_echo", 0, "echo"),
            (4, "two_echo", 1, "echo"),
            (5, "two_x", 1, "x"),
            (6, "export.pdf", 0, "export.pdf"),
        ] {
            let calling = begin(client, id, name).await;
            let app = &mut apps[at];
            let call = called(app).await;
            assert_eq!(call["payload"]["capability"], capability);
            succeed(app, &call, json!(name)).await;
            let answer = calling.last().await;
            assert_eq!(answer["result"]["content"][0]["text"], name, "{answer}");
        }
        let answer = begin(client, 7, "echo").await.last().await;
        assert_eq!(answer["error"]["code"], -32602);
        let told = "Several apps have a tool echo: name one of demo_echo, two_echo";
        assert_eq!(answer["error"]["message"], told);
    }
    let mut client = Client::new(&gateway, "/mcp");
    let told = client.initialize().await["result"]["instructions"].clone();
    assert_eq!(
        told,
        "The tools of several apps:\n- Demo (demo)\n- Demo (two)"
    );
}

#[tokio::test]
async fn a_session_hears_of_apps_that_come_and_go() {
    let gateway = Gateway::start().await;
    let client = Client::open(&gateway, "/mcp").await;
    let mut events = client.listen().await;
    let mut one = demo(&gateway).await;
    changed(&mut events).await;
    assert_eq!(names(&client).await, ["export_pdf", "echo"]);
    let echo = json!([{ "name": "echo" }]);
    let two = offer(&gateway, "two", echo.clone()).await;
    changed(&mut events).await;
    assert_eq!(
        names(&client).await,
        ["export_pdf", "demo_echo", "two_echo"]
    );
    let update = json!({ "capabilities": [{ "name": "new" }] });
    one.send(request("app/update", "u", update)).await;
    changed(&mut events).await;
    assert_eq!(names(&client).await, ["new", "echo"]);
    drop(one);
    changed(&mut events).await;
    assert_eq!(names(&client).await, ["echo"]);
    drop(two);
    changed(&mut events).await;
    assert_eq!(names(&client).await, [""; 0]);
    let mut back = offer(&gateway, "two", echo).await;
    changed(&mut events).await;
    let calling = begin(&client, 1, "echo").await;
    let call = called(&mut back).await;
    succeed(&mut back, &call, json!("back")).await;
    assert_eq!(calling.last().await["result"]["content"][0]["text"], "back");
}

#[tokio::test]
async fn a_cancel_reaches_the_app_of_its_call_alone() {
    let gateway = Gateway::start().await;
    let [client, alone] = clients(&gateway, "/mcp").await;
    let mut one = demo(&gateway).await;
    let mut two = offer(&gateway, "two", json!([{ "name": "echo" }])).await;
    // Before its request: the call does not start.
    client.cancel(1, "early").await;
    let none = client
        .post(&rpc(
            1,
            "tools/call",
            json!({ "name": "two_echo", "arguments": {} }),
        ))
        .await;
    assert!(none.text().await.unwrap().is_empty());
    // In the middle, while the other app has a call too.
    let of_one = begin(&client, 2, "demo_echo").await;
    let of_two = begin(&client, 3, "two_echo").await;
    let (call_of_one, call_of_two) = (called(&mut one).await, called(&mut two).await);
    client.cancel(3, "enough").await;
    assert_eq!(confirm_cancel(&mut two, &call_of_two).await, "enough");
    drop(of_two);
    succeed(&mut one, &call_of_one, json!("done")).await;
    assert_eq!(of_one.last().await["result"]["content"][0]["text"], "done");
    // After its end.
    client.cancel(2, "late").await;
    // Without a session the client closes the stream.
    let of_two = begin(&alone, 4, "two_echo").await;
    let call = called(&mut two).await;
    drop(of_two);
    confirm_cancel(&mut two, &call).await;
    let silent = timeout(Duration::from_millis(200), one.next()).await;
    assert!(silent.is_err(), "{silent:?}");
}

#[tokio::test]
async fn an_app_that_leaves_ends_its_own_calls_and_its_tools_are_back_when_it_is() {
    let gateway = Gateway::start().await;
    let mut one = demo(&gateway).await;
    let only_two = json!([{ "name": "x" }]);
    let mut two = offer(&gateway, "two", only_two.clone()).await;
    for client in clients(&gateway, "/mcp").await {
        let of_one = begin(&client, 1, "echo").await;
        let of_two = begin(&client, 2, "x").await;
        let call = called(&mut one).await;
        called(&mut two).await;
        drop(two);
        let ended = of_two.last().await;
        let text = &ended["result"]["content"][0]["text"];
        assert!(
            text.as_str().unwrap().starts_with("DISCONNECTED"),
            "{ended}"
        );
        while names(&client).await.contains(&"x".into()) {}
        let gone = begin(&client, 3, "x").await.last().await;
        let text = gone["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            text.starts_with(r#"DISCONNECTED: The app "two", which had "x""#),
            "{gone}"
        );
        let unknown = begin(&client, 5, "y").await.last().await;
        assert_eq!(unknown["error"]["message"], "Unknown tool: y");
        succeed(&mut one, &call, json!("done")).await;
        assert_eq!(of_one.last().await["result"]["content"][0]["text"], "done");
        two = offer(&gateway, "two", only_two.clone()).await;
        let calling = begin(&client, 4, "x").await;
        let call = called(&mut two).await;
        succeed(&mut two, &call, json!("back")).await;
        assert_eq!(calling.last().await["result"]["content"][0]["text"], "back");
    }
}

#[tokio::test]
async fn the_wanted_tools_are_chosen_among_those_of_all_apps() {
    let gateway = Gateway::start().await;
    let _one = demo(&gateway).await;
    let more = json!([{ "name": "export.pdf" }, { "name": "export.png" }, { "name": "y" }]);
    let _two = offer(&gateway, "two", more).await;
    for (query, expected) in [
        (
            "export_*",
            &["demo_export_pdf", "two_export_pdf", "export_png"][..],
        ),
        ("two_*,echo", &["echo", "two_export_pdf"]),
        ("*.png", &["export_png"]),
        ("nothing", &[]),
    ] {
        for client in clients(&gateway, &format!("/mcp?tools={query}")).await {
            assert_eq!(names(&client).await, expected, "{query}");
        }
    }
}

#[tokio::test]
async fn a_token_of_one_app_sees_that_app_alone() {
    let allowed = ["app=app-secret", "agent=any-secret", "agent@two=two-secret"];
    let allowed = allowed.map(|it| it.parse().unwrap()).to_vec();
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(allowed),
        ..config()
    })
    .await;
    let register = async |id: &str| {
        let mut app = gateway.peer("/abp/app?token=app-secret").await;
        let echo = json!([{ "name": "echo" }]);
        app.send(request(
            "app/register",
            "r",
            json!({ "app": { "id": id, "name": id, "version": "1" }, "capabilities": echo }),
        ))
        .await;
        assert_eq!(app.next().await["type"], "app/registered");
        app
    };
    let _one = register("one").await;
    let mut two = register("two").await;
    let with = |secret: &str| Client {
        token: Some(secret.into()),
        ..Client::new(&gateway, "/mcp")
    };
    let any = with("any-secret");
    assert_eq!(names(&any).await, ["one_echo", "two_echo"]);
    let mut of_two = with("two-secret");
    assert_eq!(names(&of_two).await, ["echo"]);
    of_two.initialize().await;
    assert_eq!(names(&of_two).await, ["echo"]);
    let refused = begin(&of_two, 1, "one_echo").await.last().await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Unknown tool: one_echo"), "{message}");
    let calling = begin(&of_two, 2, "echo").await;
    let call = called(&mut two).await;
    succeed(&mut two, &call, json!("two")).await;
    assert_eq!(calling.last().await["result"]["content"][0]["text"], "two");
}

#[tokio::test]
async fn of_two_tabs_the_latest_gets_the_calls_and_each_can_be_named() {
    let gateway = Gateway::start().await;
    let mut opened = [demo(&gateway).await, demo(&gateway).await];
    assert_eq!(opened[0].next().await["type"], "app/superseded");
    let _other = offer(&gateway, "other", json!([{ "name": "echo" }])).await;
    let apps = gateway.get("/api/apps", "").await.json();
    let tabs = &apps["apps"][0]["instances"];
    let named = |tab: usize| tabs[tab]["app"].as_str().unwrap().replace('#', "%23");
    for (path, name, at) in [
        ("/mcp".to_string(), "demo_echo", 1),
        (format!("/mcp/{}", named(0)), "echo", 1),
        (format!("/mcp/{}", named(1)), "echo", 0),
    ] {
        for client in clients(&gateway, &path).await {
            let calling = begin(&client, 1, name).await;
            let app = &mut opened[at];
            let call = called(app).await;
            succeed(app, &call, json!("here")).await;
            assert_eq!(calling.last().await["result"]["content"][0]["text"], "here");
        }
    }
}
