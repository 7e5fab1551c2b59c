//! Long computations: the event loop gets its turns, and cancels take effect.

use std::cell::Cell;
use std::rc::Rc;

use caphost::{CallContext, Capability, Error, Host};
use js_sys::Function;
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::{Abp, Record, get, host, settled, turn};

/// Milliseconds that a computation lasts unless it is stopped.
const LONG: f64 = 5_000.0;

fn now() -> f64 {
    let performance = get(&js_sys::global(), "performance");
    let now: Function = get(&performance, "now").unchecked_into();
    now.call0(&performance).unwrap().as_f64().unwrap()
}

/// Registers `compute`, which computes for up to `LONG` or until `done`.
fn computing(record: &Record, done: &Rc<Cell<bool>>) -> Host {
    let host = host();
    let (record, done) = (record.clone(), done.clone());
    let compute = move |_: Json, context: CallContext| {
        let (record, done) = (record.clone(), done.clone());
        async move {
            let _guard = record.on_drop("dropped");
            record.add("started");
            let start = now();
            let mut checkpoints = 0_u32;
            while !done.get() && now() - start < LONG {
                context.checkpoint().await;
                checkpoints += 1;
            }
            Ok::<_, Error>(json!({ "took": now() - start, "checkpoints": checkpoints }))
        }
    };
    host.register(Capability::new("compute"), compute).unwrap();
    host
}

#[wasm_bindgen_test]
async fn a_message_gets_its_turn_during_a_computation() {
    let (record, done) = (Record::default(), Rc::new(Cell::new(false)));
    let abp = Abp::of(&computing(&record, &done)).await;
    let call = abp.call("compute", "{}", "{}");
    let channel: Function = get(&js_sys::global(), "MessageChannel").unchecked_into();
    let channel = js_sys::Reflect::construct(&channel, &js_sys::Array::new()).unwrap();
    let heard = done.clone();
    let listener = Closure::once_into_js(move || heard.set(true));
    js_sys::Reflect::set(&get(&channel, "port1"), &"onmessage".into(), &listener).unwrap();
    let port = get(&channel, "port2");
    let post: Function = get(&port, "postMessage").unchecked_into();
    post.call1(&port, &JsValue::NULL).unwrap();
    // Only the message can end the call early.
    let response: Json = settled(call).await;
    assert_eq!(response["success"], true);
    assert!(
        response["data"]["took"].as_f64().unwrap() < LONG / 2.0,
        "{response}"
    );
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn most_checkpoints_cost_next_to_nothing() {
    let host = host();
    let counting = |rounds: u32, context: CallContext| async move {
        for _ in 0..rounds {
            context.checkpoint().await;
        }
        Ok::<_, Error>(())
    };
    let counting = move |_: Json, context: CallContext| counting(100_000, context);
    host.register(Capability::new("count"), counting).unwrap();
    let abp = Abp::of(&host).await;
    let start = now();
    let response: Json = settled(abp.call("count", "{}", "{}")).await;
    assert_eq!(response["success"], true);
    // One turn of the event loop per checkpoint would take more than a second.
    assert!(now() - start < 800.0, "{} ms", now() - start);
}

#[wasm_bindgen_test]
async fn a_cancel_arriving_during_a_computation_stops_it() {
    let (record, done) = (Record::default(), Rc::new(Cell::new(false)));
    let abp = Abp::of(&computing(&record, &done)).await;
    let call = abp.call("compute", "{}", r#"{"callId":"a"}"#);
    // An ordinary task: it runs because the computation yields.
    turn().await;
    assert_eq!(record.all(), ["started"]);
    let start = now();
    let cancel = abp.cancel("a", "");
    assert_eq!(record.all(), ["started", "dropped"]);
    assert_eq!(settled::<Json>(cancel).await["cancelled"], true);
    assert_eq!(
        settled::<Json>(call).await,
        json!({ "success": false, "cancelled": true, "metadata": { "stop": "dropped" } })
    );
    assert!(now() - start < 1_000.0);
}
