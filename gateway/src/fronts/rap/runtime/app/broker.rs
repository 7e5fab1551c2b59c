//! The app on the broker: its connection, which has no socket, and its offer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ToolServerApp;
use crate::broker::{AppInfo, Event, PeerId, Seat};
use crate::fronts::rap::runtime::toolset;
use crate::fronts::rap::wire::Toolset;
use crate::gateway::{Connected, Hub, Outbox, OutboxStep};
use crate::tokens::Identity;
use crate::wire::abp;
use caphost::call::Millis;
use caphost::offers::{Descriptor, Ending};

/// Toolsets have no version, so the app needs one.
const VERSION: &str = "0";

/// An app's connection to the broker. Dropping it leaves the broker.
pub struct BrokerConnection {
    hub: Arc<Hub>,
    peer: PeerId,
    outbox: Arc<Outbox>,
    /// Counts as a connection while a clone exists. A gateway that stops waits for it, up to its close
    /// timeout.
    pub keep: Arc<Connected>,
}

impl BrokerConnection {
    /// Joins the broker.
    pub fn join(hub: &Arc<Hub>) -> Self {
        let (peer, outbox, connected) = hub.join(|peer| Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: Seat::Own,
        });
        BrokerConnection {
            hub: hub.clone(),
            peer,
            outbox,
            keep: Arc::new(connected),
        }
    }

    /// Waits for the next step.
    pub async fn next(&self) -> OutboxStep {
        let step = self.outbox.next().await;
        if let OutboxStep::Message(_, cost) = step
            && self.outbox.written(cost)
        {
            self.hub.relieved(self.peer, &self.outbox);
        }
        step
    }

    /// The timestamp of a message that is sent now.
    pub fn timestamp(&self) -> Millis {
        self.hub.now().unix_ms as Millis
    }

    /// Sends a message to the named agent, or from the app itself.
    pub fn send(&self, agent: Option<&str>, mut envelope: Value) {
        if let Some(agent) = agent {
            envelope["agent"] = agent.into();
        }
        self.hub.receive(self.peer, &envelope.to_string(), None);
    }
}

impl Drop for BrokerConnection {
    fn drop(&mut self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}

impl ToolServerApp<'_> {
    /// Registers the app.
    pub(super) fn register(&mut self, found: &Toolset) {
        self.adopt(found);
        let app = json!({ "app": self.app });
        self.offer("app/register", app, found);
        let (app, server) = (self.app["id"].as_str(), &self.parts.client.server);
        tracing::info!(app, ?server, "tool server joined");
    }

    /// The toolset has changed: tells the broker.
    pub(super) fn update(&mut self, found: &Toolset) {
        self.endpoint = found.endpoint.clone();
        if self.adopt(found) {
            self.offer("app/update", json!({}), found);
        }
    }

    /// Adopts the tools. Returns false if all tools are unchanged. Calls of removed tools still run.
    fn adopt(&mut self, found: &Toolset) -> bool {
        let found = toolset::capabilities(found);
        let before = self.state.registry().iter().map(|it| &it.descriptor);
        let gone = before.filter(|it| found.get(&*it.name) != Some(&it.document));
        let gone: Vec<_> = gone.map(|it| it.name.clone()).collect();
        for name in &gone {
            self.state.unregister(name);
        }
        let mut changed = !gone.is_empty();
        for (name, document) in found {
            let descriptor = Descriptor {
                name: name.into(),
                concurrency: None,
                available: true,
                alternatives: Vec::new(),
                // The grace is never used: a stop is settled at once, because no tool server confirms a stop.
                ending: Ending::Told { grace: 1_000.0 },
                checked: false,
                document,
            };
            // `register` returns false for an unchanged tool.
            changed |= self.state.register(descriptor, ());
        }
        changed
    }

    /// Tells the broker the tools. The text is as short as the tool server has made it, because a
    /// registration may have no more bytes than a toolset.
    fn offer(&self, kind: &str, mut payload: Value, found: &Toolset) {
        let mut tools: Vec<_> = found.tools.iter().collect();
        tools.sort_by_key(|tool| &tool.name);
        payload["capabilities"] = json!(tools);
        let envelope = abp::envelope(kind, None, self.broker.timestamp(), payload);
        self.broker.send(None, envelope);
    }
}

/// The `app` that a tool server registers. Its id is unique.
pub(super) fn app_info(hub: &Hub, found: &Toolset) -> Value {
    let here = hub.offers_here();
    let elsewhere = hub.apps();
    let id = toolset::app_id(&found.name, |id| {
        // Other workers may use the same tool server, which is the same app.
        let is_other = |app: &AppInfo| app.name != found.name || app.version != VERSION;
        here.iter().any(|(_, offer)| offer.app.id == id)
            || elsewhere.iter().any(|app| app.id == id && is_other(app))
    });
    let mut app = json!({ "id": id, "name": found.name, "version": VERSION });
    if let Some(description) = &found.description {
        app["description"] = description.as_str().into();
    }
    app
}
