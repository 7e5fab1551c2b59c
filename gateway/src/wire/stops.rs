//! How far a stop was seen: as it stands in JSON, and in words for people.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::stopped_by::{self, number};
use caphost::call::{LateEnd, Millis, Step, Stop, StoppedBy};

pub use caphost::call::Grade;

/// How an app says that a call had ended before the cancel came.
pub const ALREADY_COMPLETED: &str = "Operation already completed";

/// Reads `{ stop, step?, took?, ended? }`, as a peer says it of a call that it has cancelled.
pub fn read(written: &Value) -> Grade {
    Grade {
        stop: Stop::of_peer(written["stop"].as_str()),
        by: stopped_by::read_in(written),
        late_end: late_end(&written["ended"]),
    }
}

/// Adds `stop`, and `step`, `took` and `ended` where they are known, to an object.
pub fn put(object: &mut Value, grade: Grade) {
    object["stop"] = grade.stop.as_str().into();
    stopped_by::put(object, grade.by, "");
    if let Some(end) = grade.late_end {
        object["ended"] = ended_json(end);
    }
}

/// The `metadata` of a confirmation: `{ stop, step?, took?, ended? }`.
pub fn metadata(grade: Grade) -> Value {
    let mut metadata = json!({});
    put(&mut metadata, grade);
    metadata
}

/// `{ success, after }`
pub fn ended_json(ended: LateEnd) -> Value {
    json!({ "success": ended.success, "after": number(ended.after) })
}

/// Reads `{ success, after }`, whatever else is in it.
pub fn late_end(written: &Value) -> Option<LateEnd> {
    LateEnd::of_peer(written["success"].as_bool(), written["after"].as_f64())
}

/// What became of the work, to end a sentence with that says that it is cancelled.
pub fn clause(grade: Grade) -> String {
    match (grade.stop, grade.late_end) {
        (Stop::NeverStarted, _) => "; it never started".into(),
        (Stop::Dropped | Stop::Returned | Stop::Terminated, _) => {
            let how = grade.by.map(|by| format!(": {}", how(by)));
            format!("; the work has ended{}", how.unwrap_or_default())
        }
        (_, None) => ", but the work was not seen to stop; it may still go on".into(),
        (_, Some(ended)) => {
            let how = if ended.success {
                "complete"
            } else {
                "with an error"
            };
            let after = span(ended.after);
            format!(", but the work was not seen to stop; it ended {after} later, {how}")
        }
    }
}

/// What became of the work, as a sentence that names the grade.
pub fn sentence(stop: Stop) -> String {
    let work = match stop {
        Stop::NeverStarted => "The work never started",
        Stop::Dropped | Stop::Returned | Stop::Terminated => "The work has ended",
        _ => "The work was not seen to stop",
    };
    format!("{work} ({}).", stop.as_str())
}

/// What has stopped it, for people.
fn how(by: StoppedBy) -> String {
    let what = match by.step {
        Step::Signal => "it took its signal",
        Step::Flag => "it saw the flag",
        Step::Terminate => "its worker was ended",
    };
    format!("{what} after {}", span(by.took))
}

/// Milliseconds as a person says them.
pub fn span(millis: Millis) -> String {
    match (millis / 1_000.0).max(0.0) {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1_000.0),
        seconds if seconds < 10.0 => format!("{seconds:.1} s"),
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        seconds => format!("{:.0} d", seconds / 86_400.0),
    }
}

/// An optional [`Stop`] as its word. One that is not known here counts as the weakest.
pub mod word {
    use super::*;

    /// Its word, or `null`.
    pub fn serialize<S: Serializer>(stop: &Option<Stop>, to: S) -> Result<S::Ok, S::Error> {
        stop.map(Stop::as_str).serialize(to)
    }

    /// Reads a word, or `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Stop>, D::Error> {
        let word = Option::<Value>::deserialize(from)?;
        Ok(word.map(|word| Stop::of_peer(word.as_str())))
    }
}

/// An optional [`LateEnd`] as `{ success, after }`.
pub mod late {
    use super::*;

    /// `{ success, after }`, or `null`.
    pub fn serialize<S: Serializer>(ended: &Option<LateEnd>, to: S) -> Result<S::Ok, S::Error> {
        ended.map(ended_json).serialize(to)
    }

    /// Reads `{ success, after }`. What cannot be read is as if it were not there.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<LateEnd>, D::Error> {
        Ok(late_end(&Value::deserialize(from)?))
    }
}

#[cfg(test)]
mod tests;
