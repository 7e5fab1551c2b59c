#![cfg(target_arch = "wasm32")]

use std::cell::Cell;
use std::rc::Rc;

use caphost::{Agent, CallContext, Capability, Code, Progress, Stop};
use futures_channel::oneshot;
use serde_json::{Value, json};
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

/// Calls a capability, and cancels the call after its first progress.
async fn stop_of(agent: &Agent, capability: &str, params: Value) -> Option<Stop> {
    let (begun, first) = oneshot::channel();
    let mut begun = Some(begun);
    let call = agent
        .call::<u32>(capability, &params)
        .on_progress(move |_| {
            begun.take().map(|it| it.send(()));
        })
        .start();
    first.await.unwrap();
    assert!(call.cancel(Some("enough")).await.cancelled);
    call.await.unwrap_err().stop()
}

#[wasm_bindgen_test]
async fn a_cancel_stops_the_count() {
    let agent = Agent::in_page(&my_app::host().unwrap()).await.unwrap();
    let params = json!({ "below": 4_000_000_000u32 });
    let stop = stop_of(&agent, "primes.count", params).await;
    assert_eq!(stop, Some(Stop::Dropped));
}

/// Records that it was dropped.
struct Guard(Rc<Cell<bool>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[wasm_bindgen_test]
async fn a_cancel_runs_drop_guards() {
    let (host, dropped) = (my_app::host().unwrap(), Rc::new(Cell::new(false)));
    let seen = dropped.clone();
    let hold = async move |_: Value, context: CallContext| {
        let _guard = Guard(seen.clone());
        context.progress(Progress::new(0, 1));
        std::future::pending().await
    };
    host.register::<_, u32>(Capability::new("hold"), hold)
        .unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let stop = stop_of(&agent, "hold", json!({})).await;
    assert_eq!(stop, Some(Stop::Dropped));
    assert!(dropped.get());
}
