//! An invocation, and the callbacks for it.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http_within;

/// An invocation that the tool server has received.
pub struct Invoked(pub Value);

impl Invoked {
    pub fn callback(&self) -> &str {
        self.0["callback_url"].as_str().unwrap()
    }

    pub fn result(&self, more: Value) -> Value {
        let mut result =
            json!({ "type": "tool_result", "group_id": self.0["group_id"], "id": self.0["id"] });
        result
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        result
    }

    pub fn event(&self, more: Value) -> Value {
        let mut event = json!({ "type": "subscription_event", "group_id": self.0["group_id"], "tool_call_id": self.0["id"] });
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event
    }

    pub async fn answer(&self, more: Value) {
        assert_eq!(post(self.callback(), self.result(more)).await, 200);
    }

    pub fn cancelled(&self) -> Value {
        json!({ "thread_id": self.0["group_id"], "tool_call_id": self.0["id"] })
    }

    pub fn closed(&self) -> Value {
        json!({ "thread_id": self.0["group_id"] })
    }
}

pub static CLIENT: LazyLock<reqwest::Client> =
    LazyLock::new(|| http_within(Duration::from_secs(30)));

pub async fn post(url: &str, body: impl ToString) -> u16 {
    let request = CLIENT
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string());
    request.send().await.unwrap().status().as_u16()
}
