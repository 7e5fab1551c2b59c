//! The tools of each app, kept until what apps offer changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::toolset::Tools;
use crate::gateway::Hub;
use crate::wire::Failure;

/// Answers kept at once: names of apps come from outside.
const KEPT: usize = 256;

/// What the apps of a hub offer, as tools.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Of the offers, when these were made.
    version: u64,
    tools: HashMap<Option<String>, Arc<Tools>>,
}

impl Catalogue {
    /// The tools of the app named, or of the only one.
    pub(super) fn tools(&self, hub: &Hub, app: Option<&str>) -> Result<Arc<Tools>, Failure> {
        // Read first: what changes meanwhile is kept under the old version, and made anew.
        let version = *hub.offers().borrow();
        let app = app.map(str::to_string);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.version != version || kept.tools.len() >= KEPT {
            *kept = Kept {
                version,
                tools: HashMap::new(),
            };
        }
        if let Some(tools) = kept.tools.get(&app) {
            return Ok(tools.clone());
        }
        let tools = Arc::new(Tools::of(hub.offer(app.as_deref())?));
        kept.tools.insert(app, tools.clone());
        Ok(tools)
    }
}
