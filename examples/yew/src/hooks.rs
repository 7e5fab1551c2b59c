//! Two hooks to copy: a capability and a call that last as long as their component.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use caphost::{Agent, CallContext, CallError, Capability, Error, Host, ProgressInfo};
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen_futures::spawn_local;
use web_sys::AbortController;
use yew::prelude::*;

type Handler<P, T> = Rc<dyn Fn(P, CallContext) -> LocalBoxFuture<'static, Result<T, Error>>>;

/// Offers a capability while the component is mounted. Its handler sees the latest state.
#[hook]
pub fn use_capability<P, T, F>(
    host: &Host,
    name: &'static str,
    describe: impl FnOnce(Capability) -> Capability + 'static,
    handler: impl Fn(P, CallContext) -> F + 'static,
) where
    P: DeserializeOwned + 'static,
    T: Serialize + 'static,
    F: Future<Output = Result<T, Error>> + 'static,
{
    let latest: Rc<RefCell<Option<Handler<P, T>>>> = use_mut_ref(|| None);
    *latest.borrow_mut() = Some(Rc::new(move |params, context| {
        Box::pin(handler(params, context))
    }));
    let host = host.clone();
    use_effect_with((), move |()| {
        let run = move |params, context| {
            let handler = latest.borrow().clone();
            async move { handler.expect("it is set above")(params, context).await }
        };
        host.register(describe(Capability::new(name)), run)
            .expect("no other component offers it");
        move || {
            host.unregister(name);
        }
    });
}

/// The state of a call.
#[derive(Clone, Default)]
pub enum Stage<T> {
    #[default]
    Idle,
    Running(ProgressInfo),
    Over(Rc<Result<T, CallError>>),
}

/// A call that the user starts, follows and stops.
pub struct Action<T> {
    pub stage: Stage<T>,
    pub start: Callback<()>,
    pub stop: Callback<()>,
}

/// A call of `name` without parameters. It is cancelled when it is started again, and when the component is unmounted.
#[hook]
pub fn use_action<T>(agent: &Agent, name: &'static str) -> Action<T>
where
    T: DeserializeOwned + Clone + 'static,
{
    let stage = use_state(Stage::default);
    let current = use_mut_ref(|| None::<AbortController>);
    let stop = {
        let current = current.clone();
        Callback::from(move |()| {
            if let Some(controller) = current.borrow_mut().take() {
                controller.abort();
            }
        })
    };
    let going = stop.clone();
    use_effect_with((), move |()| move || going.emit(()));
    let start = {
        let (agent, stage, stop) = (agent.clone(), stage.clone(), stop.clone());
        Callback::from(move |()| {
            stop.emit(());
            let controller = AbortController::new().expect("every browser has it");
            let told = stage.setter();
            told.set(Stage::Running(ProgressInfo::default()));
            let call = agent
                .call(name, &serde_json::json!({}))
                .with_signal(&controller.signal())
                .on_progress(move |info| told.set(Stage::Running(info)))
                .start();
            *current.borrow_mut() = Some(controller);
            let over = stage.setter();
            spawn_local(async move { over.set(Stage::Over(Rc::new(call.await))) });
        })
    };
    Action {
        stage: (*stage).clone(),
        start,
        stop,
    }
}
