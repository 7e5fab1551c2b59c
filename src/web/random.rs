//! Random identifiers.

use super::sys;
use crate::call::CallId;

/// A fresh UUID (version 4).
pub(super) fn call_id() -> CallId {
    let mut bytes = [0; 16];
    sys::fill_random(&mut bytes);
    CallId::from_random(bytes)
}
