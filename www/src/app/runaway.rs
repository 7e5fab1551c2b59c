//! Computations that never check whether to stop. They show that such a call can be stopped
//! nevertheless.

use caphost::{CallContext, Error, Progress};
use js_sys::{Date, RegExp};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

pub const NAME: &str = "stop.never";

/// JSON Schema of [`Params`].
pub const INPUT_SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "way": {
            "type": "string",
            "enum": ["loop", "expression", "hash", "allocation"],
            "description": "an empty loop, a regular expression that backtracks, a hash that takes 10 seconds, or an endless allocation"
        }
    },
    "required": ["way"],
    "additionalProperties": false
}"#;

/// JSON Schema of [`Done`].
pub const OUTPUT_SCHEMA: &str = r#"{
    "type": "object",
    "properties": { "result": { "type": "number" } },
    "required": ["result"],
    "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Way {
    Loop,
    Expression,
    Hash,
    Allocation,
}

#[derive(Deserialize)]
pub struct Params {
    way: Way,
}

#[derive(Serialize)]
pub struct Done {
    result: f64,
}

/// Computes without ever awaiting.
pub fn run(params: Params, context: CallContext) -> Result<Done, Error> {
    context.progress(Progress::new(0.0, 1.0).status("computing, and not listening"));
    let result = match params.way {
        Way::Loop => loop {
            black_box(());
        },
        Way::Expression => {
            let text = format!("{}b", "a".repeat(60));
            f64::from(RegExp::new("^(a+)+$", "").test(&text))
        }
        Way::Hash => hash(Date::now() + 10_000.0),
        Way::Allocation => allocate(),
    };
    Ok(Done { result })
}

fn hash(end: f64) -> f64 {
    let mut hash = 2_166_136_261_u32;
    while Date::now() < end {
        for byte in 0..100_000_u32 {
            hash = black_box(hash ^ (byte & 255)).wrapping_mul(16_777_619);
        }
    }
    hash.into()
}

/// Allocates without end, 64 KiB at a time, and writes each byte.
fn allocate() -> ! {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    loop {
        let byte = kept.len() as u8;
        kept.push((0..1 << 16).map(|at| black_box(at as u8 ^ byte)).collect());
    }
}
