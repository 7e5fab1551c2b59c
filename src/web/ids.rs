//! The ids of calls and sessions, which are made many at once.

use std::cell::{Cell, RefCell};

use uuid::Builder;
use wasm_bindgen::prelude::*;

use crate::call::CallId;

/// The number of ids that are made at once. One draw of random bytes costs as much as half a call.
const BATCH: usize = 256;

/// The characters of a UUID.
const LENGTH: usize = 36;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn fill(bytes: &mut [u8]);
}

/// The texts of ids, one after the other. An id is named by its place.
pub(super) struct Batch(RefCell<String>);

impl Batch {
    pub const fn new() -> Self {
        Batch(RefCell::new(String::new()))
    }

    fn draw(&self) {
        let mut random = [[0; 16]; BATCH];
        fill(random.as_flattened_mut());
        let mut texts = self.0.borrow_mut();
        texts.clear();
        for bytes in random {
            let id = Builder::from_random_bytes(bytes).into_uuid();
            texts.push_str(id.hyphenated().encode_lower(&mut [0; LENGTH]));
        }
    }

    /// Makes new ids in place of the last. Returns their texts.
    pub fn next(&self) -> JsValue {
        self.draw();
        JsValue::from_str(&self.0.borrow())
    }

    fn at(&self, place: u32) -> Option<CallId> {
        let start = (place as usize).checked_mul(LENGTH)?;
        let texts = self.0.borrow();
        texts.get(start..start.checked_add(LENGTH)?).map(CallId::of)
    }

    /// The id at that place, or if there is none the given text. `None` if the text is not valid.
    pub fn id(&self, given: &str, place: u32) -> Option<CallId> {
        self.at(place).or_else(|| CallId::parse(given).ok())
    }
}

thread_local! {
    static OWN: Batch = const { Batch::new() };
    /// How many of them have been given out.
    static GIVEN: Cell<u32> = const { Cell::new(0) };
}

/// A fresh UUID (version 4).
pub(super) fn random() -> CallId {
    OWN.with(|own| {
        loop {
            let place = GIVEN.get();
            GIVEN.set(place + 1);
            if let Some(id) = own.at(place) {
                return id;
            }
            own.draw();
            GIVEN.set(0);
        }
    })
}
