//! rmcp over standard input and output. A tool listens to `context.ct`, as rmcp documents it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Default)]
struct Counting(Mutex<HashMap<String, u64>>);

#[derive(Deserialize)]
struct Arguments {
    key: String,
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    ms: u64,
}

fn result(value: Value) -> CallToolResult {
    CallToolResult::structured(value)
}

impl ServerHandler for Counting {
    fn get_info(&self) -> ServerConfig {
        serde_json::from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "rmcp", "version": "3.11.0" },
        }))
        .expect("it is well formed")
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let tools = ["conformance.count", "conformance.read"].map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
        Ok(serde_json::from_value(json!({ "tools": tools })).expect("it is well formed"))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let Arguments { key, steps, ms } = serde_json::from_value(arguments).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        if request.name == "conformance.read" {
            let steps = self.0.lock().expect("nobody panics").get(&key).copied().unwrap_or(0);
            return Ok(result(json!({ "key": key, "steps": steps })).into());
        }
        for step in 1..=steps {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(ms)) => {}
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
            }
            self.0.lock().expect("nobody panics").insert(key.clone(), step);
            if let Some(token) = context.meta.get_progress_token() {
                let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, step as f64)).await;
            }
        }
        Ok(result(json!({ "key": key, "count": steps })).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Counting::default().serve(stdio()).await?.waiting().await?;
    Ok(())
}
