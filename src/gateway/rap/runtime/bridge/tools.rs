//! What the tool server offers, on the relay.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Bridge;
use crate::capability::Descriptor;
use crate::dialect::abp;
use crate::gateway::rap::runtime::toolset;
use crate::gateway::rap::wire::Toolset;
use crate::gateway::relay::AppInfo;

/// Toolsets have no version.
const VERSION: &str = "0";

impl Bridge<'_> {
    /// Registers the app.
    pub(super) fn register(&mut self, found: &Toolset) {
        let hub = &self.parts.hub;
        let here = hub.offers_here();
        let elsewhere = hub.apps();
        let id = toolset::app_id(&found.name, |id| {
            // Other workers may have the same tool server, which is the same app.
            let is_other = |app: &AppInfo| app.name != found.name || app.version != VERSION;
            here.iter().any(|(_, offer)| offer.app.id == id)
                || elsewhere.iter().any(|app| app.id == id && is_other(app))
        });
        self.app = json!({ "id": id, "name": found.name, "version": VERSION });
        if let Some(description) = &found.description {
            self.app["description"] = description.as_str().into();
        }
        let payload = json!({ "app": self.app, "capabilities": self.listed() });
        self.link
            .send(None, "app/register", Some(&json!("register")), payload);
        tracing::info!(app = id, server = ?self.parts.requests.server, "tool server joined");
    }

    /// Takes over the tools; calls of tools that are gone still run. Whether anything has changed,
    /// and what: the names added, removed and changed.
    pub(super) fn adopt(&mut self, found: &Toolset) -> Option<[Vec<String>; 3]> {
        self.endpoint = Some(found.endpoint.clone());
        let capabilities = toolset::capabilities(found);
        let missing = |from: &BTreeMap<String, Value>, in_: &BTreeMap<String, Value>| {
            let names = from.keys().filter(|name| !in_.contains_key(*name));
            names.cloned().collect::<Vec<_>>()
        };
        let added = missing(&capabilities, &self.capabilities);
        let removed = missing(&self.capabilities, &capabilities);
        let is_changed = |name: &&String| {
            let before = self.capabilities.get(*name);
            before.is_some_and(|before| Some(before) != capabilities.get(*name))
        };
        let changed: Vec<_> = capabilities.keys().filter(is_changed).cloned().collect();
        for name in removed.iter().chain(&changed) {
            self.state.unregister(name);
        }
        for name in added.iter().chain(&changed) {
            let descriptor = Descriptor {
                name: name.as_str().into(),
                concurrency: None,
                available: true,
                // Nobody waits that long: `stop` knows at once. Somebody else's server never
                // confirms that it has stopped; one that was never told has not begun.
                settle_grace: Some(1_000.0),
                checked: false,
                document: capabilities.get(name).cloned().unwrap_or_default(),
            };
            self.state.register(descriptor, ());
        }
        self.capabilities = capabilities;
        let changes = [added, removed, changed];
        changes
            .iter()
            .any(|names| !names.is_empty())
            .then_some(changes)
    }

    /// The toolset has changed.
    pub(super) fn update(&mut self, found: &Toolset) {
        let Some([added, removed, changed]) = self.adopt(found) else {
            return;
        };
        let payload = json!({ "capabilities": self.listed() });
        self.link.send(None, "app/update", None, payload);
        let data = json!({ "added": added, "removed": removed, "changed": changed });
        let payload = abp::notification(abp::CAPABILITIES_CHANGED, Some(&data));
        for agent in self.agents.iter().filter(|it| it.notifications) {
            let handle = Some(agent.handle.as_str());
            self.link
                .send(handle, abp::kind::NOTIFICATION, None, payload.clone());
        }
    }

    /// The capabilities as an app registers them.
    fn listed(&self) -> Vec<&Value> {
        self.capabilities.values().collect()
    }
}
