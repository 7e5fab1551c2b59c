use caphost::{App, CallContext, Error, Host, Progress, capability};
use wasm_bindgen::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Params {
    /// The upper bound: primes below this number are counted.
    below: u32,
}

/// Counts prime numbers.
#[capability(name = "primes.count")]
pub async fn count_primes(Params { below }: Params, context: CallContext) -> Result<u32, Error> {
    let mut primes = 0;
    for n in 2..below {
        context.checkpoint().await; // a cancel takes effect here: the future is dropped
        if n % 1_000 == 0 {
            context.progress(Progress::new(n, below));
        }
        primes += u32::from((2..n).take_while(|d| d * d <= n).all(|d| n % d != 0));
    }
    Ok(primes)
}

pub fn host() -> Result<Host, Error> {
    let host = Host::new(App::new("my-rust-app", "My Rust app", "1.0.0"))?;
    count_primes::register(&host)?;
    Ok(host)
}

#[wasm_bindgen]
pub fn run() -> Result<(), Error> {
    host()?.expose(&js_sys::global()) // as `window.abp`
}
