//! Panics in the app's own code, outside the host's guards, and a crowd of calls.

use std::hint::black_box;
use std::panic;

use caphost::{Agent, CallContext, Error};
use serde::Deserialize;
use serde::de::IgnoredAny;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::{Sum, Work, record};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &JsValue, milliseconds: u32);
    #[wasm_bindgen(js_name = queueMicrotask)]
    fn queue_microtask(callback: &JsValue);
}

/// Replaces any panic hook, as `console_error_panic_hook::set_once` does.
#[wasm_bindgen(js_name = setPanicHook)]
pub fn set_panic_hook() {
    panic::set_hook(Box::new(|info| record("hook", &info.to_string())));
}

#[derive(Deserialize)]
pub struct Panic {
    /// The place of the panic.
    pub way: String,
    /// A trap without a panic, or none for a panic.
    #[serde(default)]
    pub trap: String,
    /// Who replaces the panic hook: the handler, or the code that panics.
    #[serde(default)]
    pub hook: String,
}

/// Starts code of the app that fails outside the handler. The handler itself never ends.
pub async fn lead_to_panic(
    Panic { way, trap, hook }: Panic,
    context: CallContext,
) -> Result<Sum, Error> {
    if hook == "handler" {
        set_panic_hook();
    }
    let text = panic_text(&way);
    later(&way, move || {
        if hook == "failing code" {
            set_panic_hook();
        }
        match &*trap {
            "" => fail(&text),
            trap => fall(trap),
        }
    });
    context.checkpoint().await;
    std::future::pending().await
}

/// Panics a little later, in a task, a closure or a timer.
#[wasm_bindgen(js_name = panicIn)]
pub fn panic_in(way: &str) {
    let text = panic_text(way);
    later(way, move || fail(&text));
}

fn later(way: &str, work: impl FnOnce() + 'static) {
    match way {
        "task" => spawn_local(async move { work() }),
        "closure" => queue_microtask(&Closure::once_into_js(work)),
        _ => set_timeout(&Closure::once_into_js(work), 5),
    }
}

fn panic_text(way: &str) -> String {
    format!("the app's own {way} has panicked")
}

fn fail(text: &str) {
    panic!("{text}");
}

/// Traps at once, without a panic.
#[wasm_bindgen]
pub fn fall(trap: &str) {
    match trap {
        "an exhausted stack" => drop(black_box(exhaust(black_box(1)))),
        "an access out of bounds" => {
            // The last bytes of the address space are never memory of the module.
            let outside = black_box(usize::MAX - 15) as *const u64;
            // SAFETY: none, as this is the defect under test.
            black_box(unsafe { outside.read_volatile() });
        }
        _ => std::process::abort(),
    }
}

#[expect(unconditional_recursion, reason = "it exhausts the stack")]
fn exhaust(depth: u64) -> u64 {
    let frame = black_box([depth; 8]);
    exhaust(depth + 1).wrapping_add(frame[black_box(3)])
}

/// Makes many calls in one turn, and counts the answers.
#[wasm_bindgen(js_name = agentBurst)]
pub async fn agent_burst(port: JsValue, many: u32) -> Result<u32, Error> {
    let agent = Agent::over_port(&port).await?;
    let call = |_| agent.call::<IgnoredAny>("rust.loop", &Work { rounds: 0 });
    let calls: Vec<_> = (0..many).map(|it| call(it).start()).collect();
    let mut answered = 0;
    for call in calls {
        answered += u32::from(call.await.is_ok());
    }
    Ok(answered)
}

/// Opens a session that ends when the module panics. Returns the code of its call in flight.
#[wasm_bindgen(js_name = agentHold)]
pub async fn agent_hold(port: JsValue) -> Result<String, Error> {
    let agent = Agent::over_port(&port).await?;
    let held = agent.call::<IgnoredAny>("rust.hold", &Work { rounds: 0 });
    Ok(held
        .await
        .err()
        .map(|it| it.to_string())
        .unwrap_or_default())
}
