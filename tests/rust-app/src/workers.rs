//! Capabilities that run in workers. Each has frequent effects: it increments a counter in memory that
//! it shares with the page. A capability that never checks whether to stop also posts the time to a
//! channel, every few milliseconds.

use caphost::{
    App, CallContext, Capability, Error, Host, Progress, WorkerModule, capability, worker,
};
use js_sys::{Atomics, Date, Int32Array};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::time::Duration;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type BroadcastChannel;
    #[wasm_bindgen(constructor)]
    fn new(name: &str) -> BroadcastChannel;
    #[wasm_bindgen(method, js_name = postMessage)]
    fn post_message(this: &BroadcastChannel, time: f64);

    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
    #[wasm_bindgen(thread_local_v2, js_namespace = performance, js_name = timeOrigin)]
    static TIME_ORIGIN: f64;
}

/// Indexes in the counter.
const STEPS: u32 = 0;
const DROPS: u32 = 1;

#[derive(Deserialize)]
struct Work {
    #[serde(default)]
    way: String,
    #[serde(default, with = "shared")]
    counter: Option<Int32Array>,
    /// The name of the channel for effects.
    effects: Option<String>,
}

/// The memory that the page shares, if it shares any.
mod shared {
    use js_sys::Int32Array;
    use serde::{Deserialize, Deserializer};
    use wasm_bindgen::{JsCast, JsValue};

    #[derive(Deserialize)]
    struct Given(#[serde(with = "serde_wasm_bindgen::preserve")] JsValue);

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Int32Array>, D::Error> {
        let Given(value) = Given::deserialize(from)?;
        Ok(value.dyn_into().ok())
    }
}

#[derive(Serialize)]
struct Done {
    done: bool,
}

fn count(counter: Option<&Int32Array>, place: u32) {
    if let Some(counter) = counter {
        let _ = Atomics::add(counter, place, 1);
    }
}

/// Posts the time to a channel as steps are reported.
struct Posts {
    channel: BroadcastChannel,
    steps: Cell<u32>,
    last: Cell<f64>,
}

impl Posts {
    fn to(name: &str) -> Self {
        Posts {
            channel: BroadcastChannel::new(name),
            steps: Cell::new(0),
            last: Cell::new(f64::NEG_INFINITY),
        }
    }

    fn step(&self) {
        let steps = self.steps.get();
        self.steps.set(steps.wrapping_add(1));
        if steps.is_multiple_of(16) && now() >= self.last.get() + 2.0 {
            self.last.set(now());
            let origin = TIME_ORIGIN.with(|it| *it);
            self.channel.post_message(origin + self.last.get());
        }
    }
}

/// Never checks whether to stop, except in the way `heeds`.
fn run(work: Work, context: CallContext) -> Result<Done, Error> {
    context.progress(Progress::new(0.0, 1.0));
    let posts = work.effects.as_deref().map(Posts::to);
    let step = || {
        count(work.counter.as_ref(), STEPS);
        if let Some(posts) = &posts {
            posts.step();
        }
    };
    match work.way.as_str() {
        "heeds" => {
            while !context.is_cancelled() {
                step();
            }
            Err(Error::cancelled())
        }
        "expression" => {
            let text = format!("{}b", "a".repeat(60));
            step();
            Ok(Done {
                done: is_of_groups(text.as_bytes()),
            })
        }
        "hash" => {
            let end = Date::now() + 10_000.0;
            let mut hash = 2_166_136_261_u32;
            while Date::now() < end {
                for byte in 0..100_000_u32 {
                    hash = black_box(hash ^ (byte & 255)).wrapping_mul(16_777_619);
                }
                step();
            }
            Ok(Done { done: hash != 0 })
        }
        "allocate" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![kept.len(); 1_000]);
                step();
            }
        }
        "panic" => {
            let numbers: Vec<u32> = Vec::new();
            Ok(Done {
                done: numbers[context.call_id().len()] == 0,
            })
        }
        "return" => Ok(Done { done: true }),
        _ => loop {
            step();
        },
    }
}

/// Matches `^(a+)+$` by trying every way to divide the text into groups, which takes practically
/// forever.
fn is_of_groups(text: &[u8]) -> bool {
    let run = text.iter().take_while(|it| **it == b'a').count();
    text.is_empty() || (1..=run).any(|length| is_of_groups(black_box(&text[length..])))
}

struct Guard(Option<Int32Array>);

impl Drop for Guard {
    fn drop(&mut self) {
        count(self.0.as_ref(), DROPS);
    }
}

/// Has a checkpoint after each step, or waits forever.
async fn pace(work: Work, context: CallContext) -> Result<Done, Error> {
    let _guard = Guard(work.counter.clone());
    context.progress(Progress::new(0.0, 1.0));
    if let Some(way) = work.way.strip_prefix("panics in a ") {
        crate::panics::panic_in(way);
        std::future::pending::<()>().await;
    }
    if work.way == "ends before a panic in a timer" {
        crate::panics::panic_in("timer");
        return Ok(Done { done: true });
    }
    if work.way == "waits" {
        std::future::pending::<()>().await;
    }
    let end = Date::now() + 10_000.0;
    while Date::now() < end {
        count(work.counter.as_ref(), STEPS);
        context.checkpoint().await;
    }
    Ok(Done { done: true })
}

#[derive(Deserialize, Serialize)]
struct Answer {
    value: f64,
}

#[derive(Serialize)]
struct Question {
    method: &'static str,
}

/// Asks the agent, and passes the answer to a capability beside the host.
async fn ask(_: Work, context: CallContext) -> Result<Answer, Error> {
    let method = "elicitation/input";
    let answer: Answer = context.elicit(&Question { method }).await?;
    context.call("rust.double", &answer).await
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Range {
    below: u32,
}

/// Adds numbers, in a worker.
#[capability(name = "worker.sum")]
async fn sum(Range { below }: Range, context: CallContext) -> Result<u32, Error> {
    context.checkpoint().await;
    Ok((0..below).sum())
}

struct TooMuch;

impl From<TooMuch> for Error {
    fn from(_: TooMuch) -> Self {
        Error::new("TOO_MUCH", "That is too much")
    }
}

/// Multiplies numbers, and does not await.
#[capability(name = "worker.product")]
fn product(Range { below }: Range) -> Result<u32, TooMuch> {
    (1..below).try_fold(1u32, u32::checked_mul).ok_or(TooMuch)
}

/// Tries to make a host, which is not allowed in a worker.
fn host(_: Work, _: CallContext) -> Result<Done, Error> {
    Host::new(App::new("rust-app", "In a worker", "1.0.0"))?;
    Ok(Done { done: true })
}

thread_local! {
    static ENDS: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

/// Spawns a task that waits for the end of the call. Returns how earlier calls ended, as their tasks
/// have seen: whether they were cancelled.
async fn task(work: Work, context: CallContext) -> Result<Vec<bool>, Error> {
    wasm_bindgen_futures::spawn_local(async move {
        let cancelled = context.cancelled().await;
        ENDS.with_borrow_mut(|ends| ends.push(cancelled));
    });
    if work.way == "waits" {
        std::future::pending::<()>().await;
    }
    Ok(ENDS.with_borrow(Clone::clone))
}

/// Registers the capabilities that this module serves in its workers.
pub fn serve() {
    worker::serve_sync("worker.host", host);
    product::serve();
    worker::serve_sync("worker.run", run);
    worker::serve_sync("worker.heeds", run);
    worker::serve("worker.pace", pace);
    worker::serve("worker.ask", ask);
    worker::serve("worker.task", task);
    sum::serve();
}

/// Offers the workers' capabilities in the page.
pub fn register(host: &Host) -> Result<(), Error> {
    let module = WorkerModule::new("/rust-app-build/caphost_test_app.js")
        .script("/caphost/worker.js")
        .warm(false);
    for name in ["worker.run", "worker.ask", "worker.host", "worker.missing"] {
        host.register_worker(Capability::new(name), &module)?;
    }
    // These capabilities stop by themselves, even on a busy machine.
    let patient = module.clone().settle_grace(Duration::from_secs(20));
    for name in ["worker.pace", "worker.heeds"] {
        host.register_worker(Capability::new(name), &patient)?;
    }
    let single = patient.clone().pool(1);
    host.register_worker(Capability::new("worker.task"), &single)?;
    host.register_worker(product::capability(), &module)?;
    host.register_worker(sum::capability(), &module)?;
    host.register(
        Capability::new("rust.double"),
        |answer: Answer, _: CallContext| async move {
            let value = 2.0 * answer.value;
            Ok(Answer { value })
        },
    )
}
