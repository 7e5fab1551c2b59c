#![cfg(target_arch = "wasm32")]

use caphost::{Agent, Code, Stop};
use serde_json::json;
use wasm_bindgen_test::*;

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
async fn primes_are_counted() {
    let agent = Agent::in_page(&my_app::host().unwrap()).await.unwrap();
    let primes: u32 = agent
        .call("primes.count", &json!({ "below": 100 }))
        .await
        .unwrap();
    assert_eq!(primes, 25);
}

#[wasm_bindgen_test]
async fn what_is_no_number_is_refused() {
    let agent = Agent::in_page(&my_app::host().unwrap()).await.unwrap();
    let refused = agent.call::<u32>("primes.count", &json!({ "below": "many" }));
    assert_eq!(refused.await.unwrap_err().code(), &Code::INVALID_TYPE);
}

#[wasm_bindgen_test]
async fn a_cancel_stops_the_count() {
    let agent = Agent::in_page(&my_app::host().unwrap()).await.unwrap();
    let call = agent
        .call::<u32>("primes.count", &json!({ "below": 4_000_000_000u32 }))
        .start();
    assert!(call.cancel(Some("enough")).await.cancelled);
    let stop = call.await.unwrap_err().stop();
    assert!(matches!(stop, Some(Stop::NeverStarted | Stop::Dropped)));
}
