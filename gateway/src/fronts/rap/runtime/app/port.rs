//! The app's place on the broker, and its offer.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio::sync::mpsc;

use super::ToolServerApp;
use crate::broker::{AppInfo, CapabilityInfo, Event, FromApp, Message, PeerId, ToApp};
use crate::fronts::rap::runtime::toolset;
use crate::fronts::rap::wire::{Tool, Toolset};
use crate::gateway::{Connected, Hub};
use crate::wire::{Json, Request, abp, said};
use caphost::call::{CallId, LateEnd};
use caphost::session::Changes;

/// Toolsets have no version, so the app needs one.
const VERSION: &str = "0";

/// The app's place on the broker. Dropping it leaves the broker.
pub struct Port {
    hub: Arc<Hub>,
    peer: PeerId,
    messages: mpsc::UnboundedReceiver<ToApp>,
    /// Counts as a connection while a clone exists. A gateway that stops waits for it, up to its close
    /// timeout.
    pub keep: Arc<Connected>,
}

impl Port {
    /// Joins the broker.
    pub fn join(hub: &Arc<Hub>) -> Self {
        let (peer, messages) = hub.join_inside();
        Port {
            hub: hub.clone(),
            peer,
            messages,
            keep: Arc::new(hub.connected()),
        }
    }

    /// Waits for the next message of the broker. `None` if the broker has forgotten the app.
    pub async fn next(&mut self) -> Option<ToApp> {
        self.messages.recv().await
    }

    /// Answers a request of an agent. The answer is read as that of a page is.
    pub fn answer(&self, agent: &str, (number, request): (u64, Request), payload: &Value) {
        let payload = &Json::from(payload);
        let said = Box::new(said(payload.as_str()));
        self.say(
            agent,
            FromApp::Answer {
                number,
                request,
                payload,
                said,
            },
        );
    }

    /// The work of an abandoned call has ended.
    pub fn ended_late(&self, agent: &str, call_id: &CallId, end: LateEnd) {
        let payload = &(&abp::call_ended(call_id, end)).into();
        self.say(
            agent,
            FromApp::EndedLate {
                call_id,
                end,
                payload,
            },
        );
    }

    /// Sends a notification to an agent.
    pub fn notify(&self, agent: &str, payload: &Value) {
        self.say(agent, FromApp::Notification(&Json::from(payload)));
    }

    fn say(&self, agent: &str, message: FromApp<'_>) {
        self.hub.handle(Event::Said {
            app: self.peer,
            agent,
            message,
        });
    }

    fn offer(&self, message: Message<'_>) {
        let peer = self.peer;
        self.hub.handle(Event::Message { peer, message });
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}

impl ToolServerApp<'_> {
    /// Registers the app.
    pub(super) fn register(&mut self, app: AppInfo, found: &Toolset) {
        let (id, server) = (app.id.clone(), &self.parts.client.server);
        self.port.offer(Message::registers(app, offered(found)));
        tracing::info!(app = id, ?server, "tool server joined");
    }

    /// The toolset has changed. Tells the broker, and the agents that want to know. Calls of removed tools
    /// still run.
    pub(super) fn update(&mut self, found: &Toolset) {
        self.endpoint = found.endpoint.clone();
        let tools = toolset::capabilities(found);
        let before = std::mem::replace(&mut self.tools, tools);
        if before == self.tools {
            return;
        }
        self.port.offer(Message::offers(offered(found)));
        for (agent, session) in self.sessions.all().filter(|(_, it)| it.notifications) {
            let mut changes = Changes::default();
            let names: BTreeSet<_> = before.keys().chain(self.tools.keys()).collect();
            for name in names {
                let list = match (before.get(name), self.tools.get(name)) {
                    _ if !session.scope.has_capability(name) => continue,
                    (None, _) => &mut changes.added,
                    (_, None) => &mut changes.removed,
                    (was, is) if was != is => &mut changes.changed,
                    _ => continue,
                };
                list.push(name.as_str().into());
            }
            if changes != Changes::default() {
                self.port
                    .notify(agent, &abp::capabilities_changed(&changes));
            }
        }
    }
}

/// The capabilities that the app offers, in order of their names.
fn offered(found: &Toolset) -> Vec<CapabilityInfo> {
    let capability = |tool: &Tool| CapabilityInfo {
        name: tool.name.clone(),
        title: None,
        annotations: None,
        confirm: None,
        description: tool.description.clone(),
        input_schema: to_raw_value(&tool.input_schema).ok(),
        output_schema: None,
    };
    let mut all: Vec<_> = found.tools.iter().map(capability).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// The description of the app. Its id is unique.
pub(super) fn app_info(hub: &Hub, found: &Toolset) -> AppInfo {
    let here = hub.offers_here();
    let elsewhere = hub.apps();
    let id = toolset::app_id(&found.name, |id| {
        // Other workers may use the same tool server, which is the same app.
        let is_other = |app: &AppInfo| app.name != found.name || app.version != VERSION;
        here.iter().any(|(_, offer)| offer.app.id == id)
            || elsewhere.iter().any(|app| app.id == id && is_other(app))
    });
    AppInfo {
        id,
        name: found.name.clone(),
        version: VERSION.into(),
        description: found.description.clone(),
    }
}
