//! Random identifiers.

use super::sys;
use crate::call::CallId;

/// A fresh UUID (version 4).
pub(super) fn call_id() -> CallId {
    CallId::parse(&sys::new_id()).expect("a UUID is printable")
}
