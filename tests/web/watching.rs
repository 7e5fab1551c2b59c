//! What an app can observe about its host.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use caphost::{Agent, CallContext, Capability, Host, Stats, Stop};
use js_sys::Object;
use serde_json::{Value as Json, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::{get, host, turn};

fn holding() -> Host {
    let host = host();
    let hold = |_: Json, _: CallContext| async { Ok(pending::<u8>().await) };
    host.register(Capability::new("hold"), hold).unwrap();
    host
}

#[wasm_bindgen_test]
async fn an_observer_is_told_the_steps_of_a_call_until_it_is_dropped() {
    let host = holding();
    let agent = Agent::in_page(&host).await.unwrap();
    let steps = Rc::<RefCell<Vec<String>>>::default();
    let seen = steps.clone();
    let observer = host.observe(move |event: Json| {
        let step = event["state"].as_str().or(event["type"].as_str());
        seen.borrow_mut().extend(step.map(String::from));
    });
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    let confirmed = call.cancel(None).await;
    assert!(confirmed.cancelled);
    assert!(steps.borrow().contains(&"running".into()));
    assert!(steps.borrow().contains(&"cancelled".into()));
    drop(observer);
    let before = steps.borrow().len();
    drop(agent.call::<()>("hold", &json!({})).start());
    turn().await;
    assert_eq!(steps.borrow().len(), before);
}

#[wasm_bindgen_test]
async fn stats_count_what_is_held() {
    let host = holding();
    assert_eq!(host.stats(), Stats::default());
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    let stats = host.stats();
    assert_eq!((stats.sessions, stats.in_flight, stats.tasks), (1, 1, 1));
    drop(call);
    let stats = host.stats();
    assert_eq!((stats.in_flight, stats.tasks, stats.cancelled), (0, 0, 1));
}

#[wasm_bindgen_test]
async fn the_app_cancels_a_call_of_an_agent() {
    let host = holding();
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    let session = agent.session_id().unwrap();
    let confirmed = host.cancel_call(&session, call.id(), Some("by the user"));
    let confirmed = confirmed.await;
    assert_eq!(confirmed.stop, Some(Stop::Dropped));
    assert_eq!(call.await.unwrap_err().stop(), Some(Stop::Dropped));
}

#[wasm_bindgen_test]
fn a_host_is_exposed_with_the_tools_of_the_browser_where_it_has_any() {
    let (host, target) = (holding(), Object::new());
    host.expose_with_webmcp(&target).unwrap();
    assert!(get(&target, "abp").is_object());
    host.close();
    assert!(host.expose(&target).is_err());
}

#[wasm_bindgen_test]
fn a_framework_may_ask_for_send_and_sync() {
    fn provide<T: Send + Sync + Clone + 'static>() {}
    provide::<Host>();
    provide::<Agent>();
}
