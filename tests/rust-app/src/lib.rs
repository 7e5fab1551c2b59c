//! A Rust app with capabilities that only Rust can have: drop guards, long computations, panics. It
//! records everything that happens in `globalThis.seen`, for the tests to read.

mod agent;
mod bare;
mod many;
mod panics;
mod workers;

use caphost::{App, CallContext, Capability, Error, Host, Progress};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The page's record.
    #[wasm_bindgen(js_name = record)]
    fn record(what: &str, call_id: &str);
    /// Never settles. The signal tells it of an abort.
    #[wasm_bindgen(js_name = waitFor)]
    fn wait_for(signal: &web_sys_signal::AbortSignal) -> js_sys::Promise;
    #[wasm_bindgen(js_namespace = console)]
    fn log(text: &str);
}

/// The type of signals, without a dependency on web-sys.
mod web_sys_signal {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen]
    extern "C" {
        pub type AbortSignal;
    }
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Work {
    #[serde(default)]
    rounds: u32,
}

#[derive(Serialize)]
struct Sum {
    sum: f64,
}

struct Guard(String);

impl Drop for Guard {
    fn drop(&mut self) {
        record("dropped", &self.0);
    }
}

/// Runs when the module starts, in the page or in a worker.
#[wasm_bindgen(start)]
pub fn start() {
    workers::serve();
}

/// Makes the app's host.
#[wasm_bindgen(js_name = createApp)]
pub fn create_app() -> Result<JsValue, JsValue> {
    let text = |error: Error| JsValue::from_str(&error.message);
    let host = Host::new(App::new("rust-app", "A Rust app for tests", "1.0.0")).map_err(text)?;
    register(&host).map_err(text)?;
    workers::register(&host).map_err(text)?;
    Ok(host.as_js())
}

fn register(host: &Host) -> Result<(), Error> {
    host.register(
        Capability::new("rust.hold"),
        |_: Work, context: CallContext| async move {
            let _guard = Guard(context.call_id().into());
            record("started", context.call_id());
            std::future::pending::<()>().await;
            Ok(Sum { sum: 0.0 })
        },
    )?;
    host.register(
        Capability::new("rust.fetch"),
        |_: Work, context: CallContext| async move {
            let signal: JsValue = context.signal()?.into();
            record("started", context.call_id());
            let waited =
                wasm_bindgen_futures::JsFuture::from(wait_for(signal.unchecked_ref())).await;
            waited.map_err(|_| Error::new("BROWSER_ERROR", "the wait failed"))?;
            Ok(Sum { sum: 0.0 })
        },
    )?;
    host.register(
        Capability::new("rust.compute"),
        |work: Work, context: CallContext| async move {
            let _guard = Guard(context.call_id().into());
            let mut sum = 0.0;
            for round in 0..work.rounds {
                for step in 0..1_000 {
                    sum += f64::from(step).sqrt();
                }
                if round % 1_000 == 0 {
                    context.progress(Progress::new(f64::from(round), f64::from(work.rounds)));
                }
                context.checkpoint().await;
            }
            Ok(Sum { sum })
        },
    )?;
    // For the cost of a checkpoint: rounds with only a checkpoint, and empty rounds.
    host.register(
        Capability::new("rust.checkpoints"),
        |work: Work, context: CallContext| async move {
            for _ in 0..work.rounds {
                context.checkpoint().await;
            }
            Ok(Sum { sum: 0.0 })
        },
    )?;
    host.register(
        Capability::new("rust.loop"),
        |work: Work, _: CallContext| async move {
            for round in 0..work.rounds {
                black_box(round);
            }
            Ok(Sum { sum: 0.0 })
        },
    )?;
    // These block forever: in the first poll, or in a later one.
    for (name, first) in [("rust.spin", true), ("rust.spin.later", false)] {
        host.register(
            Capability::new(name),
            move |_: Work, context: CallContext| async move {
                let _guard = Guard(context.call_id().into());
                if !first {
                    // Long enough for a checkpoint to yield, in every build of the app.
                    let began = js_sys::Date::now();
                    while js_sys::Date::now() - began < 50.0 {
                        context.checkpoint().await;
                    }
                }
                // The log reaches the test although the thread is blocked.
                log("holds the thread");
                let mut round = 0u64;
                while black_box(true) {
                    round = black_box(round.wrapping_add(1));
                }
                Ok(Sum { sum: round as f64 })
            },
        )?;
    }
    host.register(
        Capability::new("rust.panic"),
        |_: Work, context: CallContext| async move {
            context.checkpoint().await;
            let numbers: Vec<u32> = Vec::new();
            Ok(Sum {
                sum: f64::from(numbers[context.call_id().len()]),
            })
        },
    )?;
    host.register(Capability::new("rust.lead"), panics::lead_to_panic)?;
    host.register(
        Capability::new("rust.parent"),
        |_: Work, context: CallContext| async move {
            let _guard = Guard(context.call_id().into());
            let child = context.call::<serde::de::IgnoredAny>("rust.hold", &Work { rounds: 0 });
            child.await?;
            Ok(Sum { sum: 0.0 })
        },
    )?;
    let own = host.clone();
    host.register(
        Capability::new("rust.leave"),
        move |_: Work, _: CallContext| {
            let own = own.clone();
            async move {
                let left = own.unregister("rust.leave");
                Ok(Sum { sum: left.into() })
            }
        },
    )?;
    host.register(
        Capability::new("rust.ask"),
        |_: Work, context: CallContext| async move {
            #[derive(Serialize)]
            struct Question {
                method: &'static str,
            }
            #[derive(Deserialize, Serialize)]
            struct Answer {
                value: f64,
            }
            let answer: Answer = context
                .elicit(&Question {
                    method: "elicitation/input",
                })
                .await?;
            Ok(answer)
        },
    )
}
