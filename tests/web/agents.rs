//! Agents in Rust, on a host of the same page and over the transports of a browser.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use caphost::{
    Agent, CallContext, CallError, Capability, Code, Connect, Error, Host, Progress, ProgressInfo,
    SessionEnd, Stop,
};
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{AbortController, MessageChannel};

use crate::support::{Record, host, turn};

/// A host with `double`, and with `hold`, which never ends.
fn app() -> (Host, Record) {
    let (host, record) = (host(), Record::default());
    let double = |params: Json, context: CallContext| async move {
        context.progress(Progress::new(1u32, 2usize).estimated_remaining(Duration::from_millis(5)));
        let number = params["number"].as_f64();
        let number = number.ok_or_else(|| Error::invalid_params("no number"))?;
        Ok(2.0 * number)
    };
    host.register(Capability::new("double"), double).unwrap();
    let seen = record.clone();
    let hold = move |_: Json, _: CallContext| {
        let seen = seen.clone();
        async move {
            let _guard = seen.on_drop("dropped");
            seen.add("started");
            pending::<()>().await;
            Ok(())
        }
    };
    host.register(Capability::new("hold"), hold).unwrap();
    (host, record)
}

async fn in_page() -> (Agent, Record) {
    let (host, record) = app();
    (Agent::in_page(&host).await.unwrap(), record)
}

fn stop_of<T: std::fmt::Debug>(result: Result<T, CallError>) -> Option<Stop> {
    result.unwrap_err().stop()
}

#[wasm_bindgen_test]
async fn a_call_gives_data_of_its_type() {
    let (agent, _) = in_page().await;
    let doubled: f64 = agent.call("double", &json!({ "number": 4 })).await.unwrap();
    assert_eq!(doubled, 8.0);
}

#[wasm_bindgen_test]
async fn what_went_wrong_is_had_without_a_match() {
    let (agent, _) = in_page().await;
    let failed = agent.call::<f64>("double", &json!({})).await.unwrap_err();
    assert_eq!(failed.message(), "no number");
    assert_eq!(failed.error().unwrap().code, Code::INVALID_PARAMS);
    let held = agent.call::<f64>("hold", &json!({})).start();
    assert!(held.cancel(None).await.cancelled);
    let cancelled = held.await.unwrap_err();
    assert_eq!(cancelled.message(), "The call was cancelled");
    assert!(cancelled.error().is_none());
}

#[wasm_bindgen_test]
async fn a_call_that_fails_tells_its_code() {
    let (agent, _) = in_page().await;
    let refused = agent.call::<f64>("double", &json!({})).await.unwrap_err();
    assert_eq!(refused.code(), &Code::INVALID_PARAMS);
    assert_eq!(refused.to_string(), "INVALID_PARAMS: no number");
    let unknown = agent.call::<f64>("triple", &json!({})).await.unwrap_err();
    assert_eq!(unknown.code(), &Code::UNKNOWN_CAPABILITY);
    let no_object = agent.call::<f64>("double", &4).await.unwrap_err();
    assert_eq!(no_object.code(), &Code::INVALID_PARAMS);
}

#[wasm_bindgen_test]
async fn data_of_a_wrong_type_differs_from_a_failed_call() {
    let (host, _) = app();
    let read = |_: Json, context: CallContext| async move {
        let params = json!({ "number": 4 });
        let child = context.call::<String>("double", &params).await;
        let error = child.unwrap_err();
        assert_eq!(error.code, Code::DECODE_FAILED);
        Err::<(), _>(error)
    };
    host.register(Capability::new("read"), read).unwrap();
    let agent = Agent::in_page(&host).await.unwrap();

    let call = agent.call::<String>("double", &json!({ "number": 4 }));
    let odd = call.with_id("odd").await.unwrap_err();
    let CallError::Decode { response, message } = &odd else {
        panic!("{odd:?}");
    };
    assert!(message.contains("expected a string"), "{message}");
    let duration = crate::support::get(&crate::support::get(response, "metadata"), "duration");
    assert!(duration.as_f64().is_some());
    assert_eq!(odd.data().unwrap().as_f64(), Some(8.0));
    assert!(odd.is_decode() && !odd.is_cancelled() && odd.error().is_none());
    assert_eq!(odd.code(), &Code::DECODE_FAILED);
    assert!(
        odd.to_string().starts_with("The call has completed"),
        "{odd}"
    );
    // The host says the same.
    let late = agent.cancel("odd", None).await;
    assert_eq!(late.reason.as_deref(), Some("Operation already completed"));

    let failed = agent.call::<()>("read", &json!({})).await.unwrap_err();
    assert!(!failed.is_decode());
    assert_eq!(failed.code(), &Code::DECODE_FAILED);
    assert!(
        failed.message().starts_with("The call has completed"),
        "{failed}"
    );
}

#[wasm_bindgen_test]
async fn an_agent_has_what_it_requests_and_is_asked_what_it_allows() {
    let (host, _) = app();
    let ask = async |_: Json, context: CallContext| {
        let request = json!({ "method": "elicitation/confirm" });
        context.elicit::<Json>(&request).await
    };
    host.register(Capability::new("ask"), ask).unwrap();
    let modest = Connect::new()
        .requesting(&["ask"])
        .allowing(&["elicitation/input"])
        .on_elicitation(|_| js_sys::Promise::resolve(&JsValue::from("yes")));
    let agent = modest.in_page(&host).await.unwrap();
    let params = json!({ "number": 4 });
    let double = agent.call::<f64>("double", &params);
    let code = |error: CallError| error.code().clone();
    assert_eq!(code(double.await.unwrap_err()), Code::UNKNOWN_CAPABILITY);
    let asked = agent.call::<Json>("ask", &json!({}));
    assert_eq!(code(asked.await.unwrap_err()), Code::NOT_SUPPORTED);
    let yes = |_| js_sys::Promise::resolve(&JsValue::from("yes"));
    let open = Connect::new().on_elicitation(yes);
    let agent = open.in_page(&host).await.unwrap();
    let answer: Json = agent.call("ask", &json!({})).await.unwrap();
    assert_eq!(answer, json!("yes"));
}

#[wasm_bindgen_test]
async fn a_call_whose_time_was_up_says_so() {
    let (agent, record) = in_page().await;
    let short = Duration::from_millis(20);
    let call = agent.call::<()>("hold", &json!({})).with_timeout(short);
    let late = call.await.unwrap_err();
    assert!(matches!(
        late,
        CallError::Cancelled {
            stop: Stop::Dropped,
            timed_out: true,
            ..
        }
    ));
    assert!(late.is_timeout() && late.is_cancelled());
    assert_eq!(
        late.to_string(),
        "The call was cancelled: its time was up (dropped)"
    );
    assert_eq!(late.code(), &Code::CANCELLED);
    assert_eq!(record.all(), ["started", "dropped"]);

    // A caller that cancels a call in advance knows why the call has ended, however late it reads the
    // answer.
    let call = agent.call::<()>("hold", &json!({})).with_timeout(short);
    let call = call.start();
    assert!(call.cancel(None).await.cancelled);
    wait(40).await;
    assert!(!call.await.unwrap_err().is_timeout());
    let controller = AbortController::new().unwrap();
    let call = agent.call::<()>("hold", &json!({})).with_timeout(short);
    let call = call.with_signal(&controller.signal()).start();
    turn().await;
    controller.abort();
    wait(40).await;
    assert!(!call.await.unwrap_err().is_timeout());
}

#[wasm_bindgen_test]
async fn a_connection_that_nobody_waits_for_any_more_leaves_no_session() {
    let (host, _) = app();
    let channel = MessageChannel::new().unwrap();
    {
        let port = channel.port1();
        let connecting = std::pin::pin!(Agent::over_port(&port));
        let others = std::pin::pin!(wait(20));
        futures::future::select(connecting, others).await;
    }
    host.accept_port(&channel.port2()).unwrap();
    wait(60).await;
    assert_eq!(host.stats().sessions, 0);
}

#[wasm_bindgen_test]
async fn a_clone_of_options_is_not_changed_with_the_original() {
    let (host, _) = app();
    let one = Capability::new("one").description("One");
    host.register(one.clone(), async |_: Json, _: CallContext| Ok(1))
        .unwrap();
    let strict = one
        .clone()
        .input_schema(r#"{ "type": "object", "required": ["x"] }"#);
    drop(strict);
    host.unregister("one");
    host.register(one, async |_: Json, _: CallContext| Ok(1))
        .unwrap();
    let open = Connect::new();
    let modest = open.clone().requesting(&["double"]);
    let agent = open.in_page(&host).await.unwrap();
    assert_eq!(agent.call::<u32>("one", &json!({})).await.unwrap(), 1);
    let agent = modest.in_page(&host).await.unwrap();
    let refused = agent.call::<u32>("one", &json!({})).await.unwrap_err();
    assert_eq!(refused.code(), "UNKNOWN_CAPABILITY");
}

/// Waits for about this many milliseconds.
async fn wait(time: u32) {
    let begun = js_sys::Date::now();
    while js_sys::Date::now() - begun < f64::from(time) {
        turn().await;
    }
}

#[wasm_bindgen_test]
async fn a_detached_call_goes_on_and_ends_when_nobody_has_the_agent() {
    let (host, record) = app();
    let seen = record.clone();
    let save = move |_: Json, context: CallContext| {
        let seen = seen.clone();
        async move {
            let _guard = seen.on_drop("over");
            seen.add("begun");
            for _ in 0..3 {
                turn().await;
            }
            seen.add(match context.is_cancelled() {
                true => "cancelled",
                false => "saved",
            });
            Ok(())
        }
    };
    host.register(Capability::new("save"), save).unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    agent.call::<()>("save", &json!({})).start().detach();
    drop(agent);
    while host.stats().calls == 0 || host.stats().in_flight > 0 {
        turn().await;
    }
    assert_eq!(record.all(), ["begun", "saved", "over"]);
    // The session ends together with the call.
    for _ in 0..10 {
        turn().await;
    }
    assert_eq!(host.stats().sessions, 0);
}

#[wasm_bindgen_test]
async fn a_detached_call_is_cancelled_by_its_id_and_by_its_time() {
    let (agent, record) = in_page().await;
    let call = agent.call::<()>("hold", &json!({})).with_id("mine");
    call.start().detach();
    turn().await;
    assert!(agent.cancel("mine", None).await.cancelled);
    let short = Duration::from_millis(20);
    let call = agent.call::<()>("hold", &json!({})).with_timeout(short);
    call.start().detach();
    wait(60).await;
    assert_eq!(record.all(), ["started", "dropped", "started", "dropped"]);
}

#[wasm_bindgen_test]
async fn every_type_of_an_app_can_be_debugged() {
    let (host, _) = app();
    let own = host.clone();
    let tell = move |_: Json, context: CallContext| {
        let host = own.clone();
        async move {
            let child = context.call::<f64>("double", &json!({}));
            Ok(format!("{host:?} {context:?} {child:?}"))
        }
    };
    host.register(Capability::new("tell"), tell).unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent.call::<String>("tell", &json!({})).with_id("mine");
    assert!(format!("{call:?}").contains("\"tell\""));
    let call = call.start();
    assert!(format!("{call:?}").contains("\"mine\""));
    let said = call.await.unwrap();
    assert!(said.contains("in_flight: 1"), "{said}");
    assert!(said.contains("call_id: \"mine\""), "{said}");
    assert!(said.contains("\"double\""), "{said}");
    let session = agent.session_id().unwrap();
    assert!(format!("{agent:?}").contains(&session));
}

#[wasm_bindgen_test]
async fn errors_name_what_rust_has() {
    let (host, _) = app();
    let no_port = js_sys::Object::new();
    let said = |error: Error| error.message.into_owned();
    assert_eq!(
        said(Agent::over_port(&no_port).await.unwrap_err()),
        "over_port: it must be a MessagePort, a Worker or an extension port"
    );
    assert_eq!(
        said(host.accept_port(&no_port).unwrap_err()),
        "accept_port: it must be a MessagePort, a Worker or an extension port"
    );
    assert_eq!(
        said(host.accept_messages(&["app.example"]).unwrap_err()),
        "accept_messages takes origins such as \"https://app.example\": app.example is no origin"
    );
    let target = js_sys::Object::new();
    host.expose(&target).unwrap();
    let (other, _) = app();
    assert!(!said(other.expose(&target).unwrap_err()).contains("replace"));
}

#[wasm_bindgen_test]
async fn progress_is_told_with_its_type() {
    let (agent, _) = in_page().await;
    let told = Rc::<RefCell<Vec<ProgressInfo>>>::default();
    let seen = told.clone();
    let call = agent.call::<f64>("double", &json!({ "number": 4 }));
    let call = call.on_progress(move |info| seen.borrow_mut().push(info));
    call.with_id("mine").await.unwrap();
    let told = told.borrow();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].progress, told[0].total), (1.0, Some(2.0)));
    assert_eq!(told[0].operation_id, "mine");
    assert_eq!(told[0].estimated_remaining, Some(Duration::from_millis(5)));
}

#[wasm_bindgen_test]
async fn when_a_call_is_dropped_its_future_has_been_dropped() {
    let (agent, record) = in_page().await;
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    assert_eq!(record.all(), ["started"]);
    drop(call);
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn a_call_dropped_before_it_is_sent_never_runs() {
    let (agent, record) = in_page().await;
    drop(agent.call::<()>("hold", &json!({})).start());
    turn().await;
    assert!(record.all().is_empty());
}

#[wasm_bindgen_test]
async fn the_future_that_loses_a_race_is_cancelled() {
    let (agent, record) = in_page().await;
    let params = json!({ "number": 1 });
    let hold = agent.call::<()>("hold", &json!({})).start();
    let double = agent.call::<f64>("double", &params).start();
    match futures::future::select(hold, double).await {
        futures::future::Either::Right((doubled, _)) => assert_eq!(doubled.unwrap(), 2.0),
        futures::future::Either::Left(_) => panic!("it never ends"),
    }
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn a_signal_cancels_a_call() {
    let (agent, record) = in_page().await;
    let controller = AbortController::new().unwrap();
    let call = agent.call::<()>("hold", &json!({}));
    let call = call.with_signal(&controller.signal()).start();
    turn().await;
    controller.abort();
    assert_eq!(record.all(), ["started", "dropped"]);
    assert_eq!(stop_of(call.await), Some(Stop::Dropped));

    let late = agent.call::<()>("hold", &json!({}));
    let late = late.with_signal(&controller.signal()).await;
    assert_eq!(stop_of(late), Some(Stop::NeverStarted));
    assert_eq!(record.all().len(), 2);
}

#[wasm_bindgen_test]
async fn a_timeout_cancels_a_call() {
    let (agent, record) = in_page().await;
    let call = agent.call::<()>("hold", &json!({}));
    let result = call.with_timeout(Duration::from_millis(20)).await;
    assert_eq!(stop_of(result), Some(Stop::Dropped));
    assert_eq!(record.all(), ["started", "dropped"]);
}

#[wasm_bindgen_test]
async fn a_cancel_is_confirmed_and_the_call_says_the_same() {
    let (agent, record) = in_page().await;
    let call = agent.call::<()>("hold", &json!({})).with_id("a").start();
    turn().await;
    let confirmed = call.cancel(Some("enough"));
    assert_eq!(record.all(), ["started", "dropped"]);
    let confirmed = confirmed.await;
    assert_eq!(
        (&*confirmed.call_id, confirmed.cancelled, confirmed.stop),
        ("a", true, Some(Stop::Dropped))
    );
    assert_eq!(stop_of(call.await), Some(Stop::Dropped));

    let again = agent.cancel("a", None).await;
    assert_eq!((again.cancelled, again.stop), (true, Some(Stop::Dropped)));
    let unknown = agent.cancel("b", None).await;
    assert!(!unknown.cancelled && unknown.stop.is_none());
    assert_eq!(unknown.reason.as_deref(), Some("Operation not found"));
    agent
        .call::<f64>("double", &json!({ "number": 1 }))
        .with_id("c")
        .await
        .unwrap();
    let late = agent.cancel("c", None).await;
    assert_eq!(late.reason.as_deref(), Some("Operation already completed"));
}

#[wasm_bindgen_test]
async fn an_id_that_is_taken_is_refused_and_its_owner_goes_on() {
    let (agent, record) = in_page().await;
    let first = agent.call::<()>("hold", &json!({})).with_id("a").start();
    let second = agent.call::<()>("hold", &json!({})).with_id("a").await;
    assert_eq!(second.unwrap_err().code(), &Code::INVALID_PARAMS);
    turn().await;
    assert_eq!(record.all(), ["started"]);
    drop(first);
}

#[wasm_bindgen_test]
async fn the_last_clone_ends_the_session_and_no_other() {
    let (host, _) = app();
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent.clone().call::<()>("hold", &json!({})).start();
    drop(agent);
    turn().await;
    assert_eq!((host.stats().sessions, host.stats().in_flight), (1, 1));
    drop(call);
    turn().await;
    assert_eq!((host.stats().sessions, host.stats().in_flight), (0, 0));
}

#[wasm_bindgen_test]
async fn a_shutdown_settles_what_is_in_flight() {
    let (agent, _) = in_page().await;
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    agent.shutdown().await;
    assert_eq!(stop_of(call.await), Some(Stop::Dropped));
    assert_eq!(agent.closed().await, SessionEnd::Shutdown);
    assert!(agent.session_id().is_none());
    let late = agent.call::<()>("hold", &json!({})).await.unwrap_err();
    assert_eq!(late.code(), &Code::NOT_INITIALIZED);
}

#[wasm_bindgen_test]
async fn a_host_that_closes_answers_and_disconnects() {
    let (host, _) = app();
    let agent = Agent::in_page(&host).await.unwrap();
    let call = agent.call::<()>("hold", &json!({})).start();
    turn().await;
    host.close();
    assert_eq!(stop_of(call.await), Some(Stop::Dropped));
    assert_eq!(agent.closed().await, SessionEnd::Disconnected);
    let refused = Agent::in_page(&host).await.err().unwrap();
    assert_eq!(refused.code, Code::INVALID_PARAMS);
}

#[wasm_bindgen_test]
async fn a_port_carries_calls_and_cancels() {
    let (host, record) = app();
    let channel = MessageChannel::new().unwrap();
    host.accept_port(&channel.port1()).unwrap();
    let agent = Agent::over_port(&channel.port2()).await.unwrap();
    let doubled: f64 = agent.call("double", &json!({ "number": 4 })).await.unwrap();
    assert_eq!(doubled, 8.0);
    let call = agent.call::<()>("hold", &json!({})).start();
    while record.all().is_empty() {
        turn().await;
    }
    let confirmed = call.cancel(None).await;
    assert_eq!(confirmed.stop, Some(Stop::Dropped));
    assert_eq!(stop_of(call.await), Some(Stop::Dropped));
}

/// An app that is blocked for a second when it gets a cancel, and accepts each cancel once.
const STANDS_STILL: &str = r#"
    port.onmessage = ({ data: { type, id, payload } }) => {
        const say = (type, id, payload) => port.postMessage({ type, id, timestamp: Date.now(), payload });
        if (type === 'initialize') {
            const app = { id: 'app', name: 'App', version: '1' };
            say('initialize-result', id, { sessionId: 's', protocolVersion: '0.1', app, capabilities: [], features: {} });
        } else if (type === 'capabilities/call') {
            port.call = id;
        } else if (type === 'capabilities/cancel' && port.call !== undefined) {
            const { callId } = payload;
            const [call, metadata] = [port.call, { stop: 'returned' }];
            port.call = undefined;
            setTimeout(() => {
                say('capabilities/cancel-result', id, { callId, cancelled: true, metadata });
                say('capabilities/call-result', call, { success: false, cancelled: true, metadata });
            }, 1000);
        }
    };
"#;

#[wasm_bindgen_test]
async fn a_repeated_cancel_gets_a_late_confirmation() {
    let channel = MessageChannel::new().unwrap();
    let app = js_sys::Function::new_with_args("port", STANDS_STILL);
    app.call1(&JsValue::NULL, &channel.port1()).unwrap();
    let connect = Connect::new().grace(Duration::from_millis(200));
    let agent = connect.over_port(&channel.port2()).await.unwrap();
    let call = agent.call::<()>("hold", &json!({})).with_id("late").start();
    turn().await;
    let first = call.cancel(None).await;
    assert!(!first.cancelled);
    assert_eq!(
        first.reason.as_deref(),
        Some("No confirmation from the app")
    );
    assert_eq!(call.await.unwrap_err().code(), &Code::TIMEOUT);
    let pause = js_sys::Function::new_with_args("resolve", "setTimeout(resolve, 1200)");
    let pause = js_sys::Promise::new(&mut |resolve, _| {
        pause.call1(&JsValue::NULL, &resolve).unwrap();
    });
    wasm_bindgen_futures::JsFuture::from(pause).await.unwrap();
    for _ in 0..2 {
        let again = agent.cancel("late", None).await;
        assert_eq!((again.cancelled, again.stop), (true, Some(Stop::Returned)));
    }
}

#[wasm_bindgen_test]
async fn a_window_carries_calls() {
    let (host, _) = app();
    host.accept_messages(&[]).unwrap();
    let agent = Agent::to_window(&web_sys::window().unwrap()).await.unwrap();
    let doubled: f64 = agent.call("double", &json!({ "number": 3 })).await.unwrap();
    assert_eq!(doubled, 6.0);
    host.close();
}

#[wasm_bindgen_test]
async fn a_missing_gateway_is_reported() {
    let refused = Agent::through_gateway("ws://127.0.0.1:9/abp").await;
    let error = refused.err().unwrap();
    assert_eq!(error.code, Code::DISCONNECTED);
    assert!(error.message.contains("127.0.0.1:9"), "{error}");
}

#[wasm_bindgen_test]
async fn the_capabilities_of_an_app_are_listed_with_their_schemas() {
    let (host, _) = app();
    let capability = Capability::new("described").description("For agents");
    let schema = json!({ "type": "object", "required": ["a"] });
    let capability = capability.input_schema_from(&schema);
    host.register(capability, async |_: Json, _| Ok(()))
        .unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let listed: Vec<Json> = agent.list_capabilities().await.unwrap();
    let found = listed.iter().find(|it| it["name"] == "described").unwrap();
    assert_eq!(found["description"], "For agents");
    assert_eq!(found["inputSchema"], schema);
}

#[wasm_bindgen_test]
async fn notifications_and_questions_reach_the_agent() {
    let (host, _) = app();
    let ask = |_: Json, context: CallContext| async move {
        let answer: Json = context
            .elicit(&json!({ "method": "elicitation/input" }))
            .await?;
        Ok(answer)
    };
    host.register(Capability::new("ask"), ask).unwrap();
    let heard = Rc::<RefCell<Vec<String>>>::default();
    let seen = heard.clone();
    let agent = Connect::new()
        .agent("test", "1")
        .grace(Duration::from_secs(1))
        .on_notification(move |event, data| {
            let data = data.as_string().unwrap_or_default();
            seen.borrow_mut().push(format!("{event} {data}"));
        })
        .on_elicitation(|_| js_sys::Promise::resolve(&JsValue::from_f64(7.0)))
        .in_page(&host)
        .await
        .unwrap();
    host.notify("saved", &"a.txt").unwrap();
    turn().await;
    assert_eq!(*heard.borrow(), ["saved a.txt"]);
    let answer: Json = agent.call("ask", &json!({})).await.unwrap();
    assert_eq!(answer, json!(7));
}
