//! An agent that calls this app in another page.

use caphost::{Agent, CallError, Connect, Error, RunningCall};
use serde::Serialize;
use serde::de::IgnoredAny;
use wasm_bindgen::prelude::*;

use crate::Work;

/// The report of the agent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// The confirmation of a cancel: whether the call was cancelled, and how far it was seen to stop.
    confirmed: (bool, Option<&'static str>),
    /// How far the call was seen to stop, from its own answer.
    stopped: Option<&'static str>,
    /// The error for a capability that does not exist.
    unknown: String,
    /// How many capabilities the app offers.
    listed: usize,
}

/// Connects over a window of the given origin, or through a gateway. Cancels one call and drops
/// another.
#[wasm_bindgen(js_name = agentReport)]
pub async fn agent_report(to: JsValue, origin: Option<String>) -> Result<JsValue, Error> {
    let connect = Connect::new().agent("rust-agent", "1.0.0");
    let agent = match (to.as_string(), origin) {
        (Some(url), _) => connect.through_gateway(&url).await?,
        (None, origin) => {
            let origin = origin.unwrap_or_default();
            let window = to.unchecked_ref();
            connect.origin(&origin).to_window(window).await?
        }
    };
    let call = hold(&agent).await?;
    let confirmed = call.cancel(Some("enough")).await;
    let stopped = call.await.err().and_then(|error| error.stop());
    drop(hold(&agent).await?);
    let unknown = agent.call::<IgnoredAny>("rust.none", &Work { rounds: 0 });
    let unknown = unknown.await.err().map(|error| error.code().to_string());
    let report = Report {
        confirmed: (confirmed.cancelled, confirmed.stop.map(|it| it.as_str())),
        stopped: stopped.map(|it| it.as_str()),
        unknown: unknown.unwrap_or_default(),
        listed: agent.list_capabilities::<IgnoredAny>().await?.len(),
    };
    agent.shutdown().await;
    Ok(serde_wasm_bindgen::to_value(&report)?)
}

/// A running call that never ends by itself.
async fn hold(agent: &Agent) -> Result<RunningCall<IgnoredAny>, CallError> {
    let call = agent.call("rust.hold", &Work { rounds: 0 }).start();
    // Calls start in the order in which they are made.
    let next = agent.call::<IgnoredAny>("rust.loop", &Work { rounds: 0 });
    next.await?;
    Ok(call)
}
