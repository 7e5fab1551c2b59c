//! What the code calls that the attribute `capability` writes.

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, IgnoredAny};

use super::Error;
use super::error::IntoError;

/// What a capability returns.
#[diagnostic::on_unimplemented(
    message = "a capability returns a `Result`, not `{Self}`",
    label = "write `Result<…, caphost::Error>`, or another `std::error::Error`"
)]
pub trait Returned {
    /// What the caller gets.
    type Data;
    /// Why it gets none.
    type Error;

    #[allow(missing_docs)]
    fn result(self) -> Result<Self::Data, Self::Error>;
}

impl<T: JsonSchema, E> Returned for Result<T, E> {
    type Data = T;
    type Error = E;

    fn result(self) -> Result<T, E> {
        self
    }
}

/// What a handler may return to its host. `Kind` is found by the compiler.
pub fn settled<R: Returned, Kind>(returned: R) -> Result<R::Data, Error>
where
    R::Error: IntoError<Kind>,
{
    returned.result().map_err(IntoError::into_error)
}

/// The parameters of a capability that has none: whatever it is given.
pub struct NoParams;

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(given).map(|_| NoParams)
    }
}
