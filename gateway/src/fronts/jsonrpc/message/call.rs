//! Our own method `_capabilities/call`.

use crate::wire::AnyValue as Value;
use crate::wire::abp::{self, FromAgent};
use caphost::call::Error;

/// Reads its parameters `{ capability, params?, options?: { timeout?, progressToken?, callId? } }`,
/// which are the payload of ABP's `capabilities/call`: always [`FromAgent::Call`].
pub fn read_call<V: Value>(params: Option<&V>) -> Result<FromAgent<V>, Error<V>> {
    match params {
        Some(params) if params.is_object() => abp::read_call(params),
        _ => Err(Error::invalid_params(
            "The parameters are an object {capability, params?, options?}",
        )),
    }
}
