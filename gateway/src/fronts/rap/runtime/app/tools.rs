//! What the tool server offers, on the broker.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ToolServerApp;
use crate::broker::AppInfo;
use crate::fronts::rap::runtime::toolset;
use crate::fronts::rap::wire::Toolset;
use caphost::capability::Descriptor;

/// Toolsets have no version.
const VERSION: &str = "0";

impl ToolServerApp<'_> {
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
        self.broker
            .send(None, "app/register", Some(&json!("register")), payload);
        tracing::info!(app = id, server = ?self.parts.client.server, "tool server joined");
    }

    /// Takes over the tools, and says whether any has changed. Calls of tools that are gone still
    /// run. Agents are told of the changes when calls are started.
    pub(super) fn adopt(&mut self, found: &Toolset) -> bool {
        self.endpoint = Some(found.endpoint.clone());
        let capabilities = toolset::capabilities(found);
        let differs = |(name, document): &(&String, &Value), from: &BTreeMap<String, Value>| {
            from.get(*name) != Some(*document)
        };
        let gone = self.capabilities.iter();
        let gone = gone.filter(|it| differs(it, &capabilities));
        let come = capabilities.iter();
        let come = come.filter(|it| differs(it, &self.capabilities));
        let mut changed = false;
        for (name, _) in gone {
            self.state.unregister(name);
            changed = true;
        }
        for (name, document) in come {
            let descriptor = Descriptor {
                name: name.as_str().into(),
                concurrency: None,
                available: true,
                // Never waited for: a stop is settled at once, as no tool server confirms one.
                settle_grace: Some(1_000.0),
                checked: false,
                document: document.clone(),
            };
            self.state.register(descriptor, ());
            changed = true;
        }
        self.capabilities = capabilities;
        changed
    }

    /// The toolset has changed.
    pub(super) fn update(&mut self, found: &Toolset) {
        if self.adopt(found) {
            let payload = json!({ "capabilities": self.listed() });
            self.broker.send(None, "app/update", None, payload);
        }
    }

    /// The capabilities as an app registers them.
    fn listed(&self) -> Vec<&Value> {
        self.capabilities.values().collect()
    }
}
