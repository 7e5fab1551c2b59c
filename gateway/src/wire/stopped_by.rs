//! What has stopped a handler that could be ended from outside, as it stands in JSON: `step` and
//! `took`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use caphost::call::{Millis, Step, StoppedBy};

/// What a peer has written, if it is one of the words known here and a time that can be.
pub fn read(step: Option<&str>, took: Option<Millis>) -> Option<StoppedBy> {
    let step = Step::ALL.into_iter().find(|it| step == Some(it.as_str()))?;
    let took = took.filter(|took| took.is_finite() && *took >= 0.0)?;
    let took = whole_micros(took);
    Some(StoppedBy { step, took })
}

/// Reads it from the object that has it.
pub fn read_in(object: &Value) -> Option<StoppedBy> {
    read(object["step"].as_str(), object["took"].as_f64())
}

/// Adds both to an object, where they are known; `prefix` is what their names begin with.
pub fn put(object: &mut Value, by: Option<StoppedBy>, prefix: &str) {
    if let Some(by) = by {
        object[format!("{prefix}step")] = by.step.as_str().into();
        object[format!("{prefix}took")] = number(by.took);
    }
}

/// Milliseconds, to three places: what a peer writes is not believed beyond that, nor below zero.
pub(super) fn whole_micros(millis: Millis) -> Millis {
    let millis = millis.max(0.0);
    let whole = (millis * 1_000.0).round() / 1_000.0;
    // One so large has no places.
    if whole.is_finite() { whole } else { millis }
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
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        for step in Step::ALL {
            for took in [0.0, 7.0, 57.125, 2e15] {
                let by = StoppedBy { step, took };
                let mut object = json!({});
                put(&mut object, Some(by), "");
                assert_eq!(read_in(&object), Some(by), "{object}");
            }
        }
        let by = read(Some("flag"), Some(57.0));
        let mut object = json!({ "stop": "returned" });
        put(&mut object, by, "caphost/");
        let expected = json!({ "stop": "returned", "caphost/step": "flag", "caphost/took": 57 });
        assert_eq!(object.to_string(), expected.to_string());
        put(&mut object, None, "");
        assert_eq!(object, expected);
    }

    #[test]
    fn what_a_peer_makes_up_is_not_read() {
        for bad in [
            json!({}),
            json!({ "step": "flag" }),
            json!({ "took": 1 }),
            json!({ "step": "Flag", "took": 1 }),
            json!({ "step": "abort", "took": 1 }),
            json!({ "step": ["flag"], "took": 1 }),
            json!({ "step": "flag", "took": -1 }),
            json!({ "step": "flag", "took": "1" }),
            json!({ "step": "flag", "took": null }),
            json!([]),
            json!(null),
        ] {
            assert_eq!(read_in(&bad), None, "{bad}");
        }
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(read(Some("flag"), Some(bad)), None);
        }
        let exact = read(Some("flag"), Some(1.000_123_4)).map(|by| by.took);
        assert_eq!(exact, Some(1.0));
        let huge = read(Some("flag"), Some(f64::MAX)).map(|by| by.took);
        assert_eq!(huge, Some(f64::MAX));
    }

    #[test]
    fn a_word_of_a_later_version_hides_nothing_else() {
        #[derive(Deserialize, Serialize)]
        struct Record {
            #[serde(default, with = "optional", skip_serializing_if = "Option::is_none")]
            by: Option<StoppedBy>,
            id: u32,
        }
        let read = |text: &str| serde_json::from_str::<Record>(text).unwrap();
        for unknown in [
            r#"{"id":7}"#,
            r#"{"by":null,"id":7}"#,
            r#"{"by":{"step":"x","took":1},"id":7}"#,
            r#"{"by":[1],"id":7}"#,
        ] {
            let record = read(unknown);
            assert_eq!((record.by, record.id), (None, 7), "{unknown}");
        }
        let text = r#"{"by":{"step":"terminate","took":2060.5},"id":7}"#;
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
    }
}
