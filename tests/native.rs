//! An app compiles for the native target, which editors, linters and servers use.
#![cfg(not(target_arch = "wasm32"))]

use caphost::{Agent, App, CallContext, CallError, Code, Error, Host, capability};

/// Adds one.
#[capability(name = "number.next")]
async fn next(Params { number }: Params, context: CallContext) -> Result<u32, Error> {
    context.checkpoint().await;
    number
        .checked_add(1)
        .ok_or_else(|| Error::new("TOO_LARGE", "There is no next number"))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Params {
    number: u32,
}

fn offer() -> Result<Host, Error> {
    let host = Host::new(App::new("my-app", "My app", "1.0.0"))?;
    next::register(&host)?;
    Ok(host)
}

async fn ask(agent: &Agent) -> Result<u32, CallError> {
    agent
        .call("number.next", &serde_json::json!({ "number": 1 }))
        .await
}

#[test]
fn a_page_that_is_rendered_on_a_server_may_hold_hosts_and_agents() {
    fn is_shared<T: Send + Sync + Clone + PartialEq + std::fmt::Debug>() {}
    is_shared::<Host>();
    is_shared::<Agent>();
    let _ = ask;
}

#[test]
fn code_without_javascript_works_there() {
    let error = Error::new("TOO_LARGE", "no").with_retryable(true);
    assert_eq!(error.to_string(), "TOO_LARGE: no");
    let timeout = Error::other(Error::new(Code::TIMEOUT, "late"));
    assert!(matches!(timeout.code, Code::TIMEOUT));
}

#[test]
#[should_panic(expected = "non-wasm targets")]
fn a_host_is_made_in_a_page_only() {
    let _ = offer();
}
