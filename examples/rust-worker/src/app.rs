use caphost::{App, CallContext, Error, Host, WorkerModule, capability, worker};
use wasm_bindgen::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Params {
    /// The upper bound: primes below this number are counted.
    below: u32,
}

/// Counts prime numbers.
#[capability(name = "primes.count")]
fn count_primes(Params { below }: Params, context: CallContext) -> Result<u32, Error> {
    let mut primes = 0;
    for n in 2..below {
        if context.is_cancelled() {
            return Err(Error::cancelled());
        }
        primes += u32::from((2..n).take_while(|d| d * d <= n).all(|d| n % d != 0));
    }
    Ok(primes)
}

#[wasm_bindgen(start)]
fn start() -> Result<(), Error> {
    count_primes::serve(); // serves the capability in a worker; does nothing in the page
    if worker::is_worker() {
        return Ok(()); // the host is in the page
    }
    let host = Host::new(App::new("my-rust-app", "My Rust app", "1.0.0"))?;
    let module = WorkerModule::new("pkg/primes.js");
    host.register_worker(count_primes::capability(), &module)?;
    host.expose(&js_sys::global()) // as `window.abp`
}
