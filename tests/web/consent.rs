//! Calls of capabilities in Rust that a person must allow.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use caphost::{Agent, CallContext, Capability, Code, Confirm, Connect, Error, Host, capability};
use js_sys::Promise;
use serde_json::{Value as Json, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::host;

thread_local! {
    static BEGAN: Cell<u32> = const { Cell::new(0) };
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Folder {
    folder: String,
}

/// Deletes notes.
#[capability(name = "notes.clear", confirm = "always")]
async fn clear(Folder { folder }: Folder) -> Result<String, Error> {
    BEGAN.set(BEGAN.get() + 1);
    Ok(folder)
}

async fn tidy(_: Json, context: CallContext) -> Result<String, Error> {
    let drafts = json!({ "folder": "drafts" });
    context.call("notes.clear", &drafts).await
}

fn app() -> Host {
    let host = host();
    clear::register(&host).unwrap();
    host.register(Capability::new("tidy"), tidy).unwrap();
    let list = Capability::new("list").read_only(true);
    host.register(
        list.confirm(Confirm::Destructive),
        async |_: Json, _: CallContext| Ok(1),
    )
    .unwrap();
    host
}

#[derive(serde::Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Event {
    #[serde(rename_all = "camelCase")]
    Confirm {
        state: String,
        question: Option<u32>,
        parent_call_id: Option<String>,
        params: Json,
    },
}

async fn failed(agent: &Agent, capability: &str) -> Code {
    let params = json!({ "folder": "drafts" });
    let call = agent.call::<Json>(capability, &params);
    call.await.unwrap_err().error().unwrap().code.clone()
}

#[wasm_bindgen_test]
async fn the_app_asks_and_answers() {
    BEGAN.set(0);
    let host = app();
    let agent = Agent::in_page(&host).await.unwrap();
    assert_eq!(agent.call::<u32>("list", &json!({})).await.unwrap(), 1);
    // Nobody can be asked.
    assert_eq!(
        failed(&agent, "notes.clear").await,
        Code::PERMISSION_REQUIRED
    );
    host.confirm_here(true);
    let (verdict, seen) = (Rc::new(Cell::new(true)), Rc::new(RefCell::new(Vec::new())));
    let (allow, told, answers) = (verdict.clone(), seen.clone(), host.clone());
    let ask = move |Event::Confirm {
                        state,
                        question,
                        parent_call_id,
                        params,
                    }: Event| {
        told.borrow_mut()
            .push((state, parent_call_id.is_some(), params));
        if let Some(question) = question {
            assert!(answers.answer(question, allow.get()));
            assert!(!answers.answer(question, true));
        }
    };
    let _observer = host.observe(ask);
    let drafts = json!({ "folder": "drafts" });
    let cleared = agent.call::<String>("notes.clear", &drafts).await.unwrap();
    assert_eq!((cleared.as_str(), BEGAN.get()), ("drafts", 1));
    assert_eq!(
        agent.call::<String>("tidy", &json!({})).await.unwrap(),
        "drafts"
    );
    verdict.set(false);
    assert_eq!(failed(&agent, "notes.clear").await, Code::PERMISSION_DENIED);
    assert_eq!(failed(&agent, "tidy").await, Code::PERMISSION_DENIED);
    assert_eq!(BEGAN.get(), 2);
    let states: Vec<_> = seen.take();
    let kinds: Vec<_> = states
        .iter()
        .map(|(state, child, _)| (&**state, *child))
        .collect();
    let (asked, allowed) = ("asked", "allowed");
    assert_eq!(
        kinds,
        [
            (asked, false),
            (allowed, false),
            (asked, true),
            (allowed, true),
            (asked, false),
            (asked, true)
        ]
    );
    assert!(states.iter().all(|(.., params)| *params == drafts));
    host.confirm_here(false);
    assert_eq!(
        failed(&agent, "notes.clear").await,
        Code::PERMISSION_REQUIRED
    );
    assert_eq!(host.stats().in_flight, 0);
}

#[wasm_bindgen_test]
async fn an_agent_asks_its_user() {
    BEGAN.set(0);
    let host = app();
    for (answer, code) in [(true, None), (false, Some(Code::PERMISSION_DENIED))] {
        let connect = Connect::new()
            .allowing(&["elicitation/confirm"])
            .on_elicitation(move |_| Promise::resolve(&JsValue::from(answer)));
        let agent = connect.in_page(&host).await.unwrap();
        let drafts = json!({ "folder": "drafts" });
        let call = agent.call::<String>("notes.clear", &drafts).await;
        let failed = call.err().map(|it| it.error().unwrap().code.clone());
        assert_eq!((failed, BEGAN.get()), (code, 1));
    }
}
