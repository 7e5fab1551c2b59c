//! What has stopped a handler that could be ended from outside, as it stands in JSON: `step` and
//! `took`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use caphost::call::{Millis, StoppedBy};

/// Reads it from the object that has it.
pub fn read_in(object: &Value) -> Option<StoppedBy> {
    StoppedBy::of_peer(object["step"].as_str(), object["took"].as_f64())
}

/// Adds both to an object, where they are known; `prefix` is what their names begin with.
pub fn put(object: &mut Value, by: Option<StoppedBy>, prefix: &str) {
    if let Some(by) = by {
        object[format!("{prefix}step")] = by.step.as_str().into();
        object[format!("{prefix}took")] = number(by.took);
    }
}

/// Milliseconds as JSON, whole ones without a point.
pub fn number(millis: Millis) -> Value {
    let whole = millis.fract() == 0.0 && millis < 1e15;
    match whole {
        true => json!(millis as u64),
        false => json!(millis),
    }
}

/// An optional [`StoppedBy`] as `{ step, took }`, as workers tell it each other.
pub mod optional {
    use super::*;

    /// `{ step, took }`, or `null`.
    pub fn serialize<S: Serializer>(by: &Option<StoppedBy>, to: S) -> Result<S::Ok, S::Error> {
        let mut object = Value::Null;
        put(&mut object, *by, "");
        object.serialize(to)
    }

    /// Reads `{ step, took }`. What cannot be read, such as the word of a later version, is as if
    /// it were not there.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<StoppedBy>, D::Error> {
        Ok(read_in(&Value::deserialize(from)?))
    }
}

#[cfg(test)]
mod tests;
