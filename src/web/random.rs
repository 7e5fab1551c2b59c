//! Random identifiers from a pool: one draw from the platform for many of them.

use std::cell::RefCell;

use super::sys;
use crate::call::CallId;

const POOL: usize = 256;

thread_local! {
    static BYTES: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
}

/// A fresh UUID (version 4).
pub(super) fn call_id() -> CallId {
    let bytes = BYTES.with_borrow_mut(|bytes| {
        bytes.pop().unwrap_or_else(|| {
            let mut fresh = vec![[0; 16]; POOL];
            sys::fill_random(fresh.as_flattened_mut());
            let first = fresh.pop();
            *bytes = fresh;
            first.unwrap_or_default()
        })
    });
    CallId::from_random(bytes)
}
