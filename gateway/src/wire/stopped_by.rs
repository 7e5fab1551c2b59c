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
mod tests {
    use super::*;
    use caphost::call::Step;

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
        let by = StoppedBy::of_peer(Some("flag"), Some(57.0));
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
