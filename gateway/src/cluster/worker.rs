//! The ids of workers, and what is known of a worker.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of a worker while it takes part. A worker that joins again has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId {
    /// The worker's process, which stays the same.
    pub process: Uuid,
    /// How many times the worker has joined again.
    life: u32,
}

impl WorkerId {
    /// The id of a process that has not taken part yet.
    pub fn of(process: Uuid) -> Self {
        WorkerId { process, life: 0 }
    }

    /// The next id of the same process.
    pub(super) fn next_life(self) -> Self {
        WorkerId {
            life: self.life + 1,
            ..self
        }
    }

    /// The id of some worker.
    #[cfg(test)]
    pub fn random() -> Self {
        WorkerId::of(Uuid::new_v4())
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.process.simple(), self.life)
    }
}

impl From<WorkerId> for String {
    fn from(worker: WorkerId) -> Self {
        worker.to_string()
    }
}

impl FromStr for WorkerId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |text: &str| {
            let (process, life) = text.rsplit_once('-')?;
            let (process, life) = (process.parse().ok()?, life.parse().ok()?);
            Some(WorkerId { process, life })
        };
        read(text).ok_or("not a worker's id")
    }
}

impl TryFrom<String> for WorkerId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// What is known of a worker whose id is stored somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// The worker is this one.
    Here,
    /// The worker takes part.
    There,
    /// The worker has left or died.
    Over,
    /// The worker is not known, but not all workers may be known yet.
    Unsure,
}
