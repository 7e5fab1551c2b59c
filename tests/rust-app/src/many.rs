//! Many calls of an agent on a host of the same module, and what they leave behind.

use std::time::Duration;

use caphost::session::Limits;
use caphost::{Agent, App, CallContext, Capability, Error, Host};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

#[derive(Deserialize, Serialize)]
struct Nothing {}

/// An agent in Rust, and a host that it calls.
#[wasm_bindgen]
pub struct Many {
    agent: Agent,
    host: Host,
}

#[wasm_bindgen]
impl Many {
    /// Connects over a port whose other end the host has or, without a port, within the page.
    pub async fn connect(port: JsValue, other: JsValue) -> Result<Many, Error> {
        let limits = Limits {
            // The record of ended calls is no leak, so it is small.
            remembered: 64,
            requests_per_second: 1e9,
            ..Limits::default()
        };
        let host = Host::with_limits(App::new("many", "Many calls", "1.0.0"), limits)?;
        host.register(Capability::new("plain"), async |_: Nothing, _| Ok(7))?;
        let token = async |_: Nothing, context: CallContext| {
            let token = context.cancellation_token()?;
            Ok(token.is_cancelled())
        };
        host.register(Capability::new("token"), token)?;
        // As in the documentation of `cancelled`.
        let task = async |_: Nothing, context: CallContext| {
            let player = context.clone();
            spawn_local(async move {
                let _ = player.cancelled().await;
            });
            Ok(())
        };
        host.register(Capability::new("task"), task)?;
        host.register(Capability::new("fails"), async |_: Nothing, _| {
            Err::<(), _>(Error::new("NO_LUCK", "As it is"))
        })?;
        let hold = async |_: Nothing, context: CallContext| {
            let _token = context.cancellation_token()?;
            std::future::pending::<()>().await;
            Ok(())
        };
        host.register(Capability::new("hold"), hold)?;
        let child = async |_: Nothing, context: CallContext| {
            context.call::<u32>("plain", &Nothing {}).await
        };
        host.register(Capability::new("child"), child)?;
        let agent = match port.is_undefined() {
            true => Agent::in_page(&host).await?,
            false => {
                host.accept_port(&other)?;
                Agent::over_port(&port).await?
            }
        };
        Ok(Many { agent, host })
    }

    /// Makes calls of a capability, one after the other. With `all`, they use everything that a call
    /// may use.
    pub async fn call(&self, capability: String, count: u32, all: bool, signal: JsValue) {
        for _ in 0..count {
            let mut call = self
                .agent
                .call::<serde::de::IgnoredAny>(&capability, &Nothing {});
            if all {
                call = call
                    .with_timeout(Duration::from_secs(60))
                    .with_signal(signal.unchecked_ref())
                    .on_progress(|_| ());
            }
            let call = call.start();
            if all {
                // A waiter for the end of the session comes and goes, too.
                let mut ended = Box::pin(self.agent.closed());
                let waker = std::task::Waker::noop();
                let pending = ended
                    .as_mut()
                    .poll(&mut std::task::Context::from_waker(waker));
                assert!(pending.is_pending());
            }
            if capability == "hold" {
                call.cancel(None).await;
            }
            // One call fails, and one is cancelled.
            let _ = call.await;
        }
    }

    /// How many references to JavaScript objects are held.
    #[wasm_bindgen(getter)]
    pub fn references(&self) -> u32 {
        wasm_bindgen::externref_heap_live_count()
    }

    /// Bytes of the module's memory.
    #[wasm_bindgen(getter)]
    pub fn memory(&self) -> f64 {
        let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
        let buffer: js_sys::ArrayBuffer = memory.buffer().unchecked_into();
        buffer.byte_length().into()
    }

    /// How many calls the host has not settled.
    #[wasm_bindgen(getter, js_name = inFlight)]
    pub fn in_flight(&self) -> u32 {
        self.host.stats().in_flight
    }
}
