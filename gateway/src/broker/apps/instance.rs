//! One connection of an app, such as a tab.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tokens::INSTANCE;

/// One connection of an app, on any worker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Instance {
    /// Its id.
    pub id: Arc<str>,
    /// The name of its owner.
    pub owner: Arc<str>,
    /// When the connection registered, in Unix milliseconds. Of two connections of an app, the later has the
    /// greater time.
    pub since: u64,
    /// The title of its page at the time of registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Arc<str>>,
}

impl Instance {
    /// The name under which agents ask for this instance of `app`.
    pub fn named(&self, app: &str) -> String {
        format!("{app}{INSTANCE}{}", self.id)
    }
}
