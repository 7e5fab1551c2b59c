//! The items that the code written by the attribute `capability` calls.

use std::cell::Cell;
use std::error::Error as StdError;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, IgnoredAny};

use super::Capability;
use crate::web::Error;

/// The return type of a capability.
#[diagnostic::on_unimplemented(
    message = "a capability returns a `Result`, not `{Self}`",
    label = "write `Result<…, caphost::Error>`, or another `std::error::Error`"
)]
pub trait Returned {
    /// The data that the caller gets.
    type Data;
    /// The error if there are no data.
    type Error;

    #[allow(missing_docs)]
    fn result(self) -> Result<Self::Data, Self::Error>;
}

impl<T, E> Returned for Result<T, E> {
    type Data = T;
    type Error = E;

    fn result(self) -> Result<T, E> {
        self
    }
}

/// An error that a function with the attribute has returned. Method lookup tries the traits below
/// in order, each with one reference less, and takes the first that has an implementation. So
/// `Into<caphost::Error>`, which may keep a code, takes precedence over `std::error::Error`.
pub struct Failed<E>(Cell<Option<E>>);

impl<E> Failed<E> {
    #[allow(missing_docs)]
    pub fn new(error: E) -> Self {
        Failed(Cell::new(Some(error)))
    }

    fn take(&self) -> E {
        self.0.take().expect("it is converted once")
    }
}

#[allow(missing_docs)]
pub trait Own {
    fn into_error(self) -> Error;
}

impl<E: Into<Error>> Own for &&&Failed<E> {
    fn into_error(self) -> Error {
        self.take().into()
    }
}

#[allow(missing_docs)]
pub trait Boxed {
    fn into_error(self) -> Error;
}

impl<E: Into<Box<dyn StdError>>> Boxed for &&Failed<E> {
    fn into_error(self) -> Error {
        Error::other(self.take())
    }
}

/// For all other types. The compiler reports the missing trait in the words of the last trait here.
#[allow(missing_docs)]
pub trait Neither<E> {
    fn into_error(self) -> Error
    where
        E: CapabilityError;
}

impl<E> Neither<E> for &Failed<E> {
    fn into_error(self) -> Error
    where
        E: CapabilityError,
    {
        unreachable!("no error is one of these")
    }
}

/// No type implements this trait.
///
/// ```compile_fail,E0277
/// struct Mine;
///
/// #[caphost::capability]
/// async fn fail() -> Result<(), Mine> {
///     Err(Mine)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a capability",
    label = "a capability returns `Result<T, E>`, where `E` is `caphost::Error`, a type with `impl From<E> for caphost::Error`, or any `std::error::Error`"
)]
pub trait CapabilityError {}

/// A type that is described to agents. As above, our own error text refuses a type without a schema
/// and says what to do.
pub struct Described<T>(PhantomData<T>);

impl<T> Described<T> {
    #[allow(missing_docs)]
    pub const HERE: Self = Described(PhantomData);
}

#[allow(missing_docs)]
pub trait WithSchema {
    fn input(self, capability: Capability) -> Capability;
    fn output(self, capability: Capability) -> Capability;
}

impl<T: JsonSchema> WithSchema for &&Described<T> {
    fn input(self, capability: Capability) -> Capability {
        capability.input_schema_of::<T>()
    }

    fn output(self, capability: Capability) -> Capability {
        capability.output_schema_of::<T>()
    }
}

#[allow(missing_docs)]
pub trait WithoutSchema<T> {
    fn input(self, capability: Capability) -> Capability
    where
        T: HasSchema;
    fn output(self, capability: Capability) -> Capability
    where
        T: HasSchema;
}

impl<T> WithoutSchema<T> for &Described<T> {
    fn input(self, _: Capability) -> Capability
    where
        T: HasSchema,
    {
        unreachable!("no type is one of these")
    }

    fn output(self, _: Capability) -> Capability
    where
        T: HasSchema,
    {
        unreachable!("no type is one of these")
    }
}

/// No type implements this trait.
///
/// ```compile_fail,E0277
/// #[derive(serde::Deserialize)]
/// struct Params {
///     below: u32,
/// }
///
/// #[caphost::capability]
/// async fn count(params: Params) -> Result<u32, caphost::Error> {
///     Ok(params.below)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be described to agents: it has no JSON Schema",
    label = "derive `schemars::JsonSchema` for this type, of version 1 of schemars"
)]
pub trait HasSchema {}

/// The parameters of a capability that takes none. It accepts any parameters.
pub struct NoParams;

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(given).map(|_| NoParams)
    }
}
