//! Cancels: what is true when a cancel is confirmed.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;

use caphost::{CallContext, Capability, Error, Host};
use js_sys::{Function, Object, Promise, Reflect};
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use crate::support::{Abp, Record, get, host, settled, turn};

fn stopped(stop: &str) -> Json {
    json!({ "success": false, "cancelled": true, "metadata": { "stop": stop } })
}

fn cancelled() -> Json {
    stopped("dropped")
}

/// A session on a host with `hold`, which never ends, and the record of what happens to it.
async fn holding() -> (Abp, Record) {
    let (host, record) = (host(), Record::default());
    let seen = record.clone();
    let hold = move |_: Json, _: CallContext| {
        let seen = seen.clone();
        async move {
            let _guard = seen.on_drop("dropped");
            seen.add("started");
            pending::<()>().await;
            seen.add("went on");
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("hold").concurrency(1), hold)
        .unwrap();
    (Abp::of(&host).await, record)
}

#[wasm_bindgen_test]
async fn when_cancel_returns_the_future_has_been_dropped() {
    let (abp, record) = holding().await;
    let call = abp.call("hold", "{}", r#"{"callId":"a"}"#);
    turn().await;
    let cancel = abp.cancel("a", "enough");
    // Before a promise can report anything.
    assert_eq!(record.all(), ["started", "dropped"]);
    assert_eq!(
        settled::<Json>(cancel).await,
        json!({ "callId": "a", "cancelled": true, "metadata": { "stop": "dropped" } })
    );
    assert_eq!(settled::<Json>(call).await, cancelled());
}

#[wasm_bindgen_test]
async fn an_aborted_signal_drops_the_future_synchronously() {
    let (abp, record) = holding().await;
    let controller = AbortController::new().unwrap();
    let options = Object::new();
    Reflect::set(&options, &"signal".into(), &controller.signal()).unwrap();
    let call = abp.call_with("hold", "{}", &options);
    turn().await;
    controller.abort();
    assert_eq!(record.all(), ["started", "dropped"]);
    assert_eq!(settled::<Json>(call).await, cancelled());
}

#[wasm_bindgen_test]
async fn a_call_cancelled_before_it_starts_never_runs() {
    let (abp, record) = holding().await;
    let first = abp.call("hold", "{}", r#"{"callId":"a"}"#);
    let same_tick = abp.cancel("a", "");
    assert_eq!(settled::<Json>(same_tick).await["cancelled"], true);
    assert_eq!(settled::<Json>(first).await, stopped("never-started"));
    let running = abp.call("hold", "{}", r#"{"callId":"b"}"#);
    let queued = abp.call("hold", "{}", r#"{"callId":"c"}"#);
    turn().await;
    assert_eq!(
        settled::<Json>(abp.cancel("c", "")).await["cancelled"],
        true
    );
    assert_eq!(settled::<Json>(queued).await, stopped("never-started"));
    assert_eq!(record.all(), ["started"]);
    assert_eq!(
        settled::<Json>(abp.cancel("b", "")).await["cancelled"],
        true
    );
    assert_eq!(settled::<Json>(running).await, cancelled());
    turn().await;
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn a_timeout_stops_the_work() {
    let (abp, record) = holding().await;
    let call = abp.call("hold", "{}", r#"{"callId":"a","timeout":20}"#);
    assert_eq!(settled::<Json>(call).await, cancelled());
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn a_cancel_that_comes_too_late_says_so() {
    let host = host();
    let echo = |given: Json, _: CallContext| async { Ok::<_, Error>(given) };
    host.register(Capability::new("echo"), echo).unwrap();
    let abp = Abp::of(&host).await;
    let not_found = json!({ "callId": "a", "cancelled": false, "reason": "Operation not found" });
    assert_eq!(settled::<Json>(abp.cancel("a", "")).await, not_found);
    let completed: Json = settled(abp.call("echo", r#"{"n":1}"#, r#"{"callId":"a"}"#)).await;
    assert_eq!(
        (&completed["success"], &completed["data"]),
        (&json!(true), &json!({ "n": 1 }))
    );
    let too_late =
        json!({ "callId": "a", "cancelled": false, "reason": "Operation already completed" });
    for _ in 0..2 {
        assert_eq!(settled::<Json>(abp.cancel("a", "")).await, too_late);
    }
}

#[wasm_bindgen_test]
async fn a_cancel_of_a_call_that_was_refused_confirms_nothing() {
    let (abp, _) = holding().await;
    let refused: Json = settled(abp.call("none", "{}", r#"{"callId":"a"}"#)).await;
    assert_eq!(refused["error"]["code"], "UNKNOWN_CAPABILITY");
    let late: Json = settled(abp.cancel("a", "")).await;
    assert_eq!(late["cancelled"], false);
}

#[wasm_bindgen_test]
async fn a_cancel_fires_the_context_s_signal_with_the_reason() {
    let (host, record) = (host(), Record::default());
    let seen = record.clone();
    let watching = move |_: Json, context: CallContext| {
        let seen = seen.clone();
        async move {
            let signal = context.signal()?;
            let watched: JsValue = signal.clone().into();
            let aborted = Closure::once_into_js(move || {
                let reason = get(&watched, "reason");
                let left = get(&reason, "message") == "the user left";
                seen.add(if left {
                    "aborted, the user left"
                } else {
                    "aborted"
                });
            });
            signal.set_onabort(Some(aborted.unchecked_ref()));
            pending::<()>().await;
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("watch"), watching).unwrap();
    let abp = Abp::of(&host).await;
    let call = abp.call("watch", "{}", r#"{"callId":"a"}"#);
    turn().await;
    let cancel = abp.cancel("a", "the user left");
    assert_eq!(record.all(), ["aborted, the user left"]);
    assert_eq!(settled::<Json>(cancel).await["cancelled"], true);
    assert_eq!(settled::<Json>(call).await, cancelled());
}

#[wasm_bindgen_test]
async fn a_capability_that_stops_by_itself_counts_as_cancelled() {
    let host = host();
    let stopping = |_: Json, _: CallContext| async { Err::<(), _>(Error::cancelled()) };
    host.register(Capability::new("stop"), stopping).unwrap();
    let abp = Abp::of(&host).await;
    let call = abp.call("stop", "{}", r#"{"callId":"a"}"#);
    assert_eq!(settled::<Json>(call).await, cancelled());
    let confirmed = json!({ "callId": "a", "cancelled": true, "metadata": { "stop": "dropped" } });
    assert_eq!(settled::<Json>(abp.cancel("a", "")).await, confirmed);
}

#[wasm_bindgen_test]
async fn a_parent_s_cancel_drops_its_child_first() {
    let (host, record) = (host(), Record::default());
    let (of_child, of_parent) = (record.clone(), record.clone());
    let child = move |_: Json, _: CallContext| {
        let guard = of_child.on_drop("child dropped");
        async move {
            let _guard = guard;
            pending::<()>().await;
            Ok::<_, Error>(())
        }
    };
    let parent = move |_: Json, context: CallContext| {
        let guard = of_parent.on_drop("parent dropped");
        async move {
            let _guard = guard;
            context.call::<()>("child", &json!({})).await
        }
    };
    host.register(Capability::new("child"), child).unwrap();
    host.register(Capability::new("parent"), parent).unwrap();
    let abp = Abp::of(&host).await;
    let call = abp.call("parent", "{}", r#"{"callId":"a"}"#);
    turn().await;
    let cancel = abp.cancel("a", "");
    assert_eq!(record.all(), ["child dropped", "parent dropped"]);
    assert_eq!(settled::<Json>(cancel).await["cancelled"], true);
    assert_eq!(settled::<Json>(call).await, cancelled());
}

/// Waits for the future that ends first, and drops the other.
async fn first_of(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    futures::future::select(pin!(one), pin!(other)).await;
}

#[wasm_bindgen_test]
async fn a_child_call_whose_future_is_dropped_is_cancelled() {
    let (host, record) = (host(), Record::default());
    let seen = record.clone();
    let hold = move |_: Json, _: CallContext| {
        let seen = seen.clone();
        async move {
            let _guard = seen.on_drop("child dropped");
            pending::<()>().await;
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("hold"), hold).unwrap();
    let seen = record.clone();
    let losing = move |_: Json, context: CallContext| {
        let seen = seen.clone();
        async move {
            let params = json!({});
            let child = async { drop(context.call::<Json>("hold", &params).await) };
            first_of(child, turn()).await;
            seen.add("went on");
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("lose"), losing).unwrap();
    let abp = Abp::of(&host).await;
    let response: Json = settled(abp.call("lose", "{}", "{}")).await;
    assert_eq!(response["success"], true);
    assert_eq!(record.all(), ["child dropped", "went on"]);
    assert_eq!(get(&stats(&host), "inFlight"), 0);
}

#[wasm_bindgen_test]
async fn a_question_whose_future_is_dropped_is_withdrawn() {
    let host = host();
    let asking = |_: Json, context: CallContext| async move {
        let question = json!({ "method": "elicitation/input" });
        let asked = async { drop(context.elicit::<Json>(&question).await) };
        first_of(asked, turn()).await;
        Ok::<_, Error>(())
    };
    host.register(Capability::new("ask"), asking).unwrap();
    let abp = Abp::of(&host).await;
    let never = Closure::<dyn Fn() -> Promise>::new(|| Promise::new(&mut |_, _| {}));
    abp.provide("__abp_elicitation", never.as_ref());
    let response: Json = settled(abp.call("ask", "{}", "{}")).await;
    assert_eq!(response["success"], true);
    assert_eq!(get(&stats(&host), "elicitations"), 0);
}

#[wasm_bindgen_test]
async fn a_signal_taken_after_the_cancel_has_fired() {
    let host = host();
    let (sender, receiver) = futures::channel::oneshot::channel();
    let sender = RefCell::new(Some(sender));
    let giving = move |_: Json, context: CallContext| {
        let sender = sender.borrow_mut().take().unwrap();
        async move {
            assert!(sender.send(context.clone()).is_ok());
            pending::<()>().await;
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("give"), giving).unwrap();
    let abp = Abp::of(&host).await;
    let call = abp.call("give", "{}", r#"{"callId":"a"}"#);
    let context = receiver.await.unwrap();
    let _: Json = settled(abp.cancel("a", "enough")).await;
    assert_eq!(settled::<Json>(call).await, cancelled());
    let signal = context.signal().unwrap();
    assert!(signal.aborted());
    assert_eq!(get(&signal.reason(), "message"), "enough");
}

fn stats(host: &Host) -> JsValue {
    let host = host.as_js();
    let stats: Function = get(&host, "stats").unchecked_into();
    stats.call0(&host).unwrap()
}

#[wasm_bindgen_test]
async fn a_call_that_is_cancelled_in_its_own_poll_is_confirmed_when_its_future_has_been_dropped() {
    let (host, record) = (host(), Record::default());
    let seen = record.clone();
    // Observers learn of the end at once, inside the step that has caused it.
    let observe: Function = get(&host.as_js(), "observe").unchecked_into();
    let heard = Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
        if get(&event, "state") == "cancelled" {
            seen.add("confirmed");
        }
    });
    observe.call1(&host.as_js(), heard.as_ref()).unwrap();
    let abp = Rc::new(Abp::closed(&host));
    let (own, seen) = (abp.clone(), record.clone());
    let stops_itself = move |_: Json, _: CallContext| {
        let (abp, seen) = (own.clone(), seen.clone());
        async move {
            let _guard = seen.on_drop("dropped");
            let _ = abp.cancel("a", "");
            seen.add("went on");
            pending::<()>().await;
            Ok::<_, Error>(())
        }
    };
    host.register(Capability::new("stops.itself"), stops_itself)
        .unwrap();
    abp.initialize().await.unwrap();
    let call = abp.call("stops.itself", "{}", r#"{"callId":"a"}"#);
    assert_eq!(settled::<Json>(call).await, cancelled());
    assert_eq!(record.all(), ["went on", "dropped", "confirmed"]);
}
