//! `AbortSignal`s and tokens: those of calls, and those of exported functions.

use std::future::pending;

use caphost::{Agent, CallContext, Capability, Code, Error, Host, abortable};
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use crate::support::{Record, host, turn};

/// A host with `spawn`, whose task outlives the handler and reports when the call is cancelled.
fn spawning(work: fn(CallContext, Record)) -> (Host, Record) {
    let (host, record) = (host(), Record::default());
    let seen = record.clone();
    let spawn = move |params: Json, context: CallContext| {
        work(context.clone(), seen.clone());
        async move {
            if params["hold"] == true {
                pending::<()>().await;
            }
            Ok(context.is_cancelled())
        }
    };
    host.register(Capability::new("spawn"), spawn).unwrap();
    (host, record)
}

fn wait_cancelled(context: CallContext, record: Record) {
    spawn_local(async move {
        let cancelled = context.cancelled().await;
        assert_eq!(cancelled, context.is_cancelled());
        assert_eq!(cancelled, context.cancelled().await);
        record.add(match cancelled {
            true => "cancelled",
            false => "ended",
        });
    });
}

#[wasm_bindgen_test]
async fn a_task_is_told_of_the_cancel_of_its_call() {
    let (host, record) = spawning(wait_cancelled);
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent
        .call::<bool>("spawn", &json!({ "hold": true }))
        .start();
    turn().await;
    assert!(record.all().is_empty());
    drop(call);
    turn().await;
    assert_eq!(record.all(), ["cancelled"]);
}

#[wasm_bindgen_test]
async fn a_task_is_told_of_the_end_of_a_call_that_completes() {
    let (host, record) = spawning(wait_cancelled);
    let agent = Agent::in_page(&host).await.unwrap();
    let cancelled: bool = agent.call("spawn", &json!({})).await.unwrap();
    assert!(!cancelled);
    turn().await;
    assert_eq!(record.all(), ["ended"]);
}

#[wasm_bindgen_test]
async fn a_task_is_told_of_the_end_of_a_call_that_fails_and_of_one_that_stops_by_itself() {
    for (code, end) in [("NO_LUCK", "ended"), ("CANCELLED", "cancelled")] {
        let (host, record) = (host(), Record::default());
        let seen = record.clone();
        let fail = move |_: Json, context: CallContext| {
            wait_cancelled(context, seen.clone());
            async move { Err::<(), _>(Error::new(code, "As it is")) }
        };
        host.register(Capability::new("fail"), fail).unwrap();
        let agent = Agent::in_page(&host).await.unwrap();
        agent.call::<()>("fail", &json!({})).await.unwrap_err();
        turn().await;
        assert_eq!(record.all(), [end]);
    }
}

#[wasm_bindgen_test]
async fn a_task_is_told_of_a_cancel_before_the_handler_gave_its_future() {
    let (host, record) = (host(), Record::default());
    let (own, seen) = (
        std::rc::Rc::new(std::cell::OnceCell::<Agent>::new()),
        record.clone(),
    );
    let agent = own.clone();
    let suicide = move |_: Json, context: CallContext| {
        wait_cancelled(context.clone(), seen.clone());
        drop(own.get().unwrap().cancel(context.call_id(), None));
        async move { Ok(()) }
    };
    host.register(Capability::new("suicide"), suicide).unwrap();
    let connected = Agent::in_page(&host).await.unwrap();
    agent.set(connected.clone()).ok().unwrap();
    let stopped = connected.call::<()>("suicide", &json!({})).await;
    assert!(stopped.unwrap_err().is_cancelled());
    turn().await;
    assert_eq!(record.all(), ["cancelled"]);
    connected.shutdown().await;
}

#[cfg(feature = "tokio-util")]
#[wasm_bindgen_test]
async fn a_token_of_a_call_that_has_completed_is_not_cancelled() {
    let (host, record) = spawning(|context, record| {
        let [token, other] = [(); 2].map(|()| context.cancellation_token().unwrap());
        spawn_local(async move {
            assert!(!context.cancelled().await);
            assert!(!token.is_cancelled());
            token.cancel();
            assert!(!other.is_cancelled() && !context.cancellation_token().unwrap().is_cancelled());
            record.add("ended");
        });
    });
    let agent = Agent::in_page(&host).await.unwrap();
    let _: bool = agent.call("spawn", &json!({})).await.unwrap();
    turn().await;
    assert_eq!(record.all(), ["ended"]);
}

#[cfg(feature = "tokio-util")]
#[wasm_bindgen_test]
async fn a_token_is_cancelled_with_its_call() {
    let (host, record) = spawning(|context, record| {
        let token = context.cancellation_token().unwrap();
        assert!(!token.is_cancelled());
        spawn_local(async move {
            token.cancelled().await;
            assert!(context.cancellation_token().unwrap().is_cancelled());
            record.add("token");
        });
    });
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent
        .call::<bool>("spawn", &json!({ "hold": true }))
        .start();
    turn().await;
    drop(call);
    turn().await;
    assert_eq!(record.all(), ["token"]);
}

fn holding(record: &Record) -> impl Future<Output = u8> + 'static {
    let guard = record.on_drop("dropped");
    async move {
        let _guard = guard;
        pending().await
    }
}

#[wasm_bindgen_test]
async fn an_abort_drops_the_future_at_once() {
    let record = Record::default();
    let controller = AbortController::new().unwrap();
    let (signal, work) = (controller.signal(), holding(&record));
    let ended = Record::default();
    let seen = ended.clone();
    spawn_local(async move {
        let aborted = abortable(&signal, work).await.unwrap_err();
        assert_eq!(aborted.reason, "enough");
        assert_eq!(Error::from(aborted).code, Code::CANCELLED);
        seen.add("ended");
    });
    turn().await;
    assert!(record.all().is_empty());
    controller.abort_with_reason(&"enough".into());
    assert_eq!(record.all(), ["dropped"]);
    turn().await;
    assert_eq!(ended.all(), ["ended"]);
}

#[wasm_bindgen_test]
async fn with_a_signal_that_has_fired_nothing_runs() {
    let controller = AbortController::new().unwrap();
    controller.abort();
    let record = Record::default();
    let seen = record.clone();
    let work = async move { seen.add("ran") };
    let aborted = abortable(&controller.signal(), work).await.unwrap_err();
    assert!(record.all().is_empty());
    let reason = JsValue::from(aborted);
    assert_eq!(crate::support::get(&reason, "name"), "AbortError");
}

#[wasm_bindgen_test]
async fn what_completes_first_is_kept_and_the_signal_is_let_go() {
    let controller = AbortController::new().unwrap();
    let work = async {
        turn().await;
        7
    };
    assert_eq!(abortable(&controller.signal(), work).await.unwrap(), 7);
    controller.abort();
}

#[wasm_bindgen_test]
async fn a_future_that_aborts_itself_is_dropped_at_the_end_of_its_poll() {
    let record = Record::default();
    let controller = AbortController::new().unwrap();
    let (own, guard, seen) = (
        controller.clone(),
        record.on_drop("dropped"),
        record.clone(),
    );
    let work = async move {
        let _guard = guard;
        turn().await;
        own.abort();
        seen.add("after");
        pending::<()>().await;
    };
    abortable(&controller.signal(), work).await.unwrap_err();
    assert_eq!(record.all(), ["after", "dropped"]);
}
