//! A host on a plain object, and an agent's view of it.

use std::cell::RefCell;
use std::rc::Rc;

use caphost::{App, Host};
use js_sys::{Function, Object, Promise, Reflect};
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// The recorded events, in order.
#[derive(Clone, Default)]
pub struct Record(Rc<RefCell<Vec<&'static str>>>);

impl Record {
    pub fn add(&self, what: &'static str) {
        self.0.borrow_mut().push(what);
    }

    pub fn all(&self) -> Vec<&'static str> {
        self.0.borrow().clone()
    }

    /// Records `what` when it is dropped.
    pub fn on_drop(&self, what: &'static str) -> DropObserver {
        DropObserver(self.clone(), what)
    }
}

pub struct DropObserver(Record, &'static str);

impl Drop for DropObserver {
    fn drop(&mut self) {
        self.0.add(self.1);
    }
}

pub fn host() -> Host {
    Host::new(App::new("web-test", "The tests' app", "1.0.0").description("For tests")).unwrap()
}

/// The `abp` of a plain object, as an automation client uses it.
pub struct Abp {
    target: Object,
    abp: JsValue,
}

impl Abp {
    /// Exposes the host, and opens a session.
    pub async fn of(host: &Host) -> Abp {
        let abp = Abp::closed(host);
        abp.initialize().await.unwrap();
        abp
    }

    /// Exposes the host.
    pub fn closed(host: &Host) -> Abp {
        let target = Object::new();
        host.expose(&target).unwrap();
        let abp = get(&target, "abp");
        Abp { target, abp }
    }

    pub async fn initialize(&self) -> Result<JsValue, JsValue> {
        let params = r#"{"agent":{"name":"web","version":"1"},"protocolVersion":"0.1","features":{"elicitation":true}}"#;
        JsFuture::from(self.start("initialize", &[&json(params)])).await
    }

    /// Calls a capability without waiting for it. `params` and `options` are JSON.
    pub fn call(&self, capability: &str, params: &str, options: &str) -> Promise {
        self.call_with(capability, params, &json(options))
    }

    pub fn call_with(&self, capability: &str, params: &str, options: &JsValue) -> Promise {
        self.start("call", &[&capability.into(), &json(params), options])
    }

    pub fn cancel(&self, call: &str, reason: &str) -> Promise {
        self.start("cancel", &[&call.into(), &reason.into()])
    }

    /// Sets a member that a page's object would have, such as `__abp_progress`.
    pub fn provide(&self, name: &str, value: &JsValue) {
        Reflect::set(&self.target, &name.into(), value).unwrap();
    }

    pub fn property(&self, name: &str) -> JsValue {
        get(&self.abp, name)
    }

    fn start(&self, method: &str, arguments: &[&JsValue]) -> Promise {
        let function: Function = get(&self.abp, method).unchecked_into();
        let arguments: js_sys::Array = arguments.iter().copied().collect();
        let started = function.apply(&self.abp, &arguments).unwrap();
        started.unchecked_into()
    }
}

/// The value that a promise resolves to.
pub async fn settled<T: DeserializeOwned>(promise: Promise) -> T {
    serde_wasm_bindgen::from_value(JsFuture::from(promise).await.unwrap()).unwrap()
}

/// Waits for a turn of the event loop.
pub async fn turn() {
    let timeout = |resolve: Function, _| {
        let set: Function = get(&js_sys::global(), "setTimeout").unchecked_into();
        set.call1(&JsValue::UNDEFINED, &resolve).unwrap();
    };
    JsFuture::from(Promise::new(&mut { timeout }))
        .await
        .unwrap();
}

pub fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap()
}

pub fn json(text: &str) -> JsValue {
    js_sys::JSON::parse(text).unwrap()
}
