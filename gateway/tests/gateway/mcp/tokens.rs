//! Which tokens may use MCP, and which token each session belongs to.

use caphost_gateway::{Config, Tokens};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::*;
use crate::support::*;

async fn guarded(tokens: &[&str]) -> (Gateway, Peer) {
    let tokens = tokens.iter().map(|it| it.parse().unwrap()).collect();
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens),
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    (gateway, app)
}

fn bearing(gateway: &Gateway, path: &str, token: &str) -> Client {
    Client {
        token: Some(token.into()),
        ..Client::new(gateway, path)
    }
}

#[tokio::test]
async fn a_token_of_role_agent_is_needed() {
    let (gateway, _app) = guarded(&["app=p", "agent=a", "admin=r"]).await;
    let none = Client::new(&gateway, "/mcp")
        .post(&initialize(LEGACY))
        .await;
    assert_eq!(none.status(), 401);
    let challenge = none.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.starts_with("Bearer"), "{challenge}");
    assert!(none.json::<Value>().await.unwrap()["error"].is_object());
    for (token, status) in [("wrong", 401), ("p", 403), ("a", 200), ("r", 200)] {
        let answer = bearing(&gateway, "/mcp", token)
            .post(&initialize(LEGACY))
            .await;
        assert_eq!(answer.status(), status, "{token}");
        let in_query = Client::new(&gateway, &format!("/mcp?token={token}"));
        assert_eq!(
            in_query.post(&initialize(LEGACY)).await.status(),
            status,
            "?token={token}"
        );
    }
}

#[tokio::test]
async fn a_session_is_its_owners_alone() {
    let (gateway, _app) = guarded(&["app=p", "agent=a", "agent=b"]).await;
    let mut owner = bearing(&gateway, "/mcp", "a");
    owner.initialize().await;
    let thief = Client {
        token: Some("b".into()),
        ..owner.clone()
    };
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let mut request = thief.request(method.clone());
        if method == Method::POST {
            request = request.json(&rpc(1, "ping", json!({})));
        }
        assert_eq!(thief.send(request).await.status(), 404, "{method}");
    }
    let elsewhere = Client {
        url: format!("{}/demo", owner.url),
        ..owner.clone()
    };
    assert_eq!(
        elsewhere.post(&rpc(1, "ping", json!({}))).await.status(),
        404
    );
    assert_eq!(owner.ask(1, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_token_for_one_app_reaches_no_other() {
    let (gateway, _app) = guarded(&["app=p", "agent@demo=a", "agent@other=b"]).await;
    let other = bearing(&gateway, "/mcp/demo", "b")
        .post(&initialize(LEGACY))
        .await;
    assert_eq!(other.status(), 403);
    let mut own = bearing(&gateway, "/mcp", "b");
    own.initialize().await;
    let call = json!({ "name": "a.b" });
    let gone = own.ask(1, "tools/call", call).await;
    let text = gone["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "DISCONNECTED: No app with id \"other\" is connected");
    let mut client = bearing(&gateway, "/mcp", "a");
    client.initialize().await;
    let list = client.ask(1, "tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"][0]["name"], "a_b");
}
