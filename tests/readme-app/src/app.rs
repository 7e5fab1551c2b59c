use caphost::{App, CallContext, Capability, Error, Host, Progress};
use wasm_bindgen::prelude::*;

#[derive(serde::Deserialize)]
struct Params {
    below: u32,
}

async fn count_primes(params: Params, context: CallContext) -> Result<u32, Error> {
    let mut primes = 0;
    for n in 2..params.below {
        context.checkpoint().await; // a cancel gets in here, and the future is dropped
        context.progress(Progress::new(n.into(), params.below.into()));
        primes += u32::from((2..n).take_while(|d| d * d <= n).all(|d| n % d != 0));
    }
    Ok(primes)
}

#[wasm_bindgen(start)]
fn main() -> Result<(), JsError> {
    let host = Host::new(App::new("my-rust-app", "My Rust app", "1.0.0"))?;
    let schema = r#"{ "type": "object", "properties": { "below": { "type": "integer" } } }"#;
    host.register(
        Capability::new("primes.count").input_schema(schema),
        count_primes,
    )?;
    host.expose(&js_sys::global());
    Ok(())
}
