//! Tools of real tool servers, which real agents call.

mod calls;
mod chains;
mod deliveries;
mod interruptions;
pub mod invoked;
mod subscriptions;
pub mod tool_server;
mod toolsets;

use std::sync::Arc;
use std::time::Duration;

use caphost_gateway::for_tests::Metrics;
use caphost_gateway::{Config, Limits, RuntimeConfig, RuntimeLimits, Tokens};
use serde_json::{Value, json};

use crate::support::*;
use invoked::{CLIENT, Invoked, post};
use tool_server::{Received, Tools, toolset};

pub fn quick() -> RuntimeLimits {
    RuntimeLimits {
        refresh_interval: Duration::from_millis(50),
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(50),
        ..RuntimeLimits::default()
    }
}

async fn gateway(servers: &[&str], limits: RuntimeLimits) -> (Gateway, Arc<Metrics>) {
    let tool_servers = RuntimeConfig {
        servers: servers.iter().map(|it| it.parse().unwrap()).collect(),
        public: None,
        limits,
    };
    let gateway = Gateway::with(Config {
        tool_servers,
        ..config()
    })
    .await;
    let metrics = gateway.hub.metrics.clone();
    (gateway, metrics)
}

pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// An agent with a session on the app, as soon as the app exists.
pub async fn agent(gateway: &Gateway, app: &str) -> Peer {
    let hub = &gateway.hub;
    until("the app", || hub.manifest(Some(app)).is_ok()).await;
    let mut agent = gateway.peer(&format!("/abp?app={app}")).await;
    initialize(&mut agent).await;
    agent
}

async fn initialize(agent: &mut Peer) -> Value {
    let who = json!({ "agent": { "name": "a", "version": "1" }, "protocolVersion": "0.1" });
    agent.send(request("initialize", "init", who)).await;
    let opened = agent.next().await;
    assert!(opened["payload"]["sessionId"].is_string(), "{opened}");
    opened["payload"].clone()
}

pub fn work(id: &str, options: Value) -> Value {
    let mut options = options;
    options["callId"] = id.into();
    request(
        "capabilities/call",
        id,
        json!({ "capability": "work", "params": { "n": 1 }, "options": options }),
    )
}

pub async fn outcome(agent: &mut Peer, id: &str) -> Value {
    let result = agent.next().await;
    assert_eq!(
        (&result["type"], &result["id"]),
        (&json!("capabilities/call-result"), &json!(id)),
        "{result}"
    );
    result["payload"].clone()
}
