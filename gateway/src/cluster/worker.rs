//! Workers, and what is known of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Names a worker while it takes part: one that joins anew has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId {
    /// Its process, which stays the same.
    pub process: Uuid,
    /// How often it has joined anew.
    life: u32,
}

impl WorkerId {
    /// That of a process which has not taken part yet.
    pub fn of(process: Uuid) -> Self {
        WorkerId { process, life: 0 }
    }

    /// The next of the same process.
    pub(super) fn next_life(self) -> Self {
        WorkerId {
            life: self.life + 1,
            ..self
        }
    }

    /// Some worker's.
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
        read(text).ok_or("no worker's id")
    }
}

impl TryFrom<String> for WorkerId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// What is known of a worker that something is kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is this one.
    Here,
    /// It takes part.
    There,
    /// It has left, or has died.
    Over,
    /// Not all may be known yet.
    Unsure,
}
