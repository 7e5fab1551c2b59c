//! The ids of calls and sessions, which are made many at once.

use std::cell::{Cell, RefCell};

use uuid::Builder;
use wasm_bindgen::prelude::*;

use crate::call::CallId;

/// The number of ids that are made at once. One draw of random bytes costs as much as half a call.
const BATCH: usize = 256;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn fill(bytes: &mut [u8]);
}

/// The random bytes of ids, which are named by their place.
pub(super) struct Batch(RefCell<[[u8; 16]; BATCH]>);

impl Batch {
    pub const fn new() -> Self {
        Batch(RefCell::new([[0; 16]; BATCH]))
    }

    fn draw(&self) {
        fill(self.0.borrow_mut().as_flattened_mut());
    }

    /// Makes new ids in place of the last. Returns their texts, one after the other.
    pub fn next(&self) -> JsValue {
        self.draw();
        let mut texts = String::with_capacity(36 * BATCH);
        for bytes in &*self.0.borrow() {
            let id = Builder::from_random_bytes(*bytes).into_uuid();
            texts.push_str(id.hyphenated().encode_lower(&mut [0; 36]));
        }
        JsValue::from_str(&texts)
    }

    fn at(&self, place: usize) -> Option<CallId> {
        let bytes = self.0.borrow().get(place).copied();
        bytes.map(CallId::from_random)
    }

    /// The id at that place, or if there is none the given text. `None` if the text is not valid.
    pub fn id(&self, given: &str, place: u32) -> Option<CallId> {
        self.at(place as usize)
            .or_else(|| CallId::parse(given).ok())
    }
}

thread_local! {
    static OWN: Batch = const { Batch::new() };
    /// How many of them have been given out.
    static GIVEN: Cell<usize> = const { Cell::new(BATCH) };
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
