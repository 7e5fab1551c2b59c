//! One connection of an app, such as a tab.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tokens::INSTANCE;

/// One connection of an app, on whichever worker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Instance {
    /// Its id.
    pub id: Arc<str>,
    /// The name of its owner.
    pub owner: Arc<str>,
    /// When it registered, in Unix milliseconds; later than those of the app that it came after.
    pub since: u64,
    /// The title of its page, as that was when it registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Arc<str>>,
}

impl Instance {
    /// What it is called by, as one of the app with that id.
    pub fn named(&self, app: &str) -> String {
        format!("{app}{INSTANCE}{}", self.id)
    }
}
