//! The types of a call's parameters and data. Parameters are always an object: a type that cannot be read
//! from an object could never be read.

use std::fmt;

use serde::Serialize;
use serde::de::value::UnitDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use wasm_bindgen::JsValue;

use crate::call::Code;
use crate::web::{Error, data};

/// Reads the parameters of a call.
pub(super) fn read<P: DeserializeOwned>(given: JsValue) -> Result<P, Error> {
    serde_wasm_bindgen::from_value(given).map_err(|error| {
        Error::invalid_params(match problem_with::<P>() {
            Some(problem) => problem,
            None => format!("The parameters do not fit: {}", data::said(error)),
        })
    })
}

/// The problem with a type that no object can be read as, if there is a problem.
pub(super) fn problem_with<P: DeserializeOwned>() -> Option<String> {
    match P::deserialize(Probe) {
        Err(Wanted(Some(kind))) => Some(no_object(kind)),
        _ => None,
    }
}

/// `kind` is the kind of the type.
pub(super) fn no_object(kind: &str) -> String {
    format!("parameters are an object; this type is {kind}: take a struct")
}

/// A deserializer without data. It learns from the calls of a type which kind of data the type
/// wants.
struct Probe;

/// The kind that a type wants, if that is no object.
#[derive(Debug)]
struct Wanted(Option<&'static str>);

const INTEGER: Wanted = Wanted(Some("an integer"));
const NUMBER: Wanted = Wanted(Some("a number"));
const TEXT: Wanted = Wanted(Some("a string"));
const BYTES: Wanted = Wanted(Some("bytes"));
const ARRAY: Wanted = Wanted(Some("an array"));
const NOTHING: Wanted = Wanted(Some("nothing"));

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.unwrap_or("an object"))
    }
}

impl std::error::Error for Wanted {}

impl de::Error for Wanted {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Wanted(None)
    }
}

macro_rules! wants {
    ($($kind:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Wanted> {
            Err($kind)
        }
    )*)*};
}

const OBJECT: Wanted = Wanted(None);
const FLAG: Wanted = Wanted(Some("a boolean"));

impl<'de> Deserializer<'de> for Probe {
    type Error = Wanted;

    wants! {
        OBJECT: deserialize_any deserialize_map deserialize_identifier;
        FLAG: deserialize_bool;
        INTEGER: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128;
        NUMBER: deserialize_f32 deserialize_f64;
        TEXT: deserialize_char deserialize_str deserialize_string;
        BYTES: deserialize_bytes deserialize_byte_buf;
        ARRAY: deserialize_seq;
        NOTHING: deserialize_unit;
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wanted> {
        UnitDeserializer::new().deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wanted> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wanted> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, Wanted> {
        Err(NOTHING)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Wanted> {
        Err(ARRAY)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, Wanted> {
        // No type has such a name: serde-wasm-bindgen marks values that stay JavaScript values in
        // this way.
        Err(if name.contains('-') { OBJECT } else { ARRAY })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Wanted> {
        Err(OBJECT)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Wanted> {
        Err(OBJECT)
    }
}

/// Converts the data that a capability returned.
pub(super) fn returned(value: &impl Serialize) -> Result<JsValue, Error> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).map_err(|error| {
        let message = format!("The data cannot be written: {}", data::said(error));
        Error::new(Code::OPERATION_FAILED, message)
    })
}
