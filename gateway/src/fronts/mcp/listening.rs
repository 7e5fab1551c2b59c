//! Streams of messages that no request has asked for.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::ready;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::{mpsc, watch};

use super::result::complete;
use super::session::McpSession;
use super::tools;
use crate::fronts::rpc::next_cancelled;
use crate::gateway::Hub;
use crate::gateway::calls::CancelNotice;
use crate::wire::json_rpc::{Id, notification, success};

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// A stream of one session. If a session has several streams, the newest gets the messages.
struct Listening {
    session: Arc<McpSession>,
    number: u64,
    /// The messages to this stream.
    inbox: mpsc::Receiver<String>,
    hub: Arc<Hub>,
    /// Changes when the session's tools may have changed.
    offers: watch::Receiver<u64>,
    cancels: broadcast::Receiver<CancelNotice>,
}

/// Another stream of a session. It begins with the messages that the client has not been sent yet.
pub fn listening(hub: &Arc<Hub>, session: &Arc<McpSession>) -> BoxStream<'static, String> {
    let (number, inbox) = session.listen();
    let mut offers = hub.offer_changes(session.caller.app.as_deref());
    offers.mark_changed();
    let listening = Listening {
        session: session.clone(),
        number,
        inbox,
        hub: hub.clone(),
        offers,
        cancels: hub.cancellations(),
    };
    let messages = stream::unfold(listening, |mut listening| async {
        Some((listening.next().await?, listening))
    });
    messages.boxed()
}

impl Listening {
    async fn next(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                message = self.inbox.recv() => return message,
                Ok(()) = self.offers.changed() => {
                    let tools = tools::fingerprint(&self.hub, self.session.caller.app.as_deref());
                    if self.session.take_news(self.number, tools) {
                        return Some(tools_changed(None));
                    }
                }
                cancelled = next_cancelled(&mut self.cancels, &self.session.caller.identity) => {
                    let cancelled = cancelled?;
                    // Of several streams, the newest gets the message.
                    if self.session.is_newest(self.number) {
                        return Some(cancelled.to_string());
                    }
                }
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.session.unlisten(self.number);
    }
}

/// The first message of a subscription: the changes that it will tell.
pub fn acknowledged(id: &Id, tools: bool, tasks: Option<&[String]>) -> String {
    let mut accepted = match tools {
        true => json!({ "toolsListChanged": true }),
        false => json!({}),
    };
    if let Some(tasks) = tasks {
        accepted["taskIds"] = json!(tasks);
    }
    let params = json!({ "notifications": accepted, "_meta": subscribed(id) });
    notification("notifications/subscriptions/acknowledged", params).to_string()
}

/// The last message of a subscription, when the gateway stops.
pub fn unsubscribed(id: &Id) -> String {
    success(id.value(), &complete(json!({ "_meta": subscribed(id) })))
}

/// A subscription without a session, to the tools of an app, or of all apps. `id` is that of its request.
pub fn subscription(hub: &Arc<Hub>, app: Option<Arc<str>>, id: Id) -> BoxStream<'static, String> {
    let (hub, mut offers) = (hub.clone(), hub.offer_changes(app.as_deref()));
    offers.mark_unchanged();
    let mut known = tools::fingerprint(&hub, app.as_deref());
    let changes = stream::unfold(offers, |mut offers| async {
        offers.changed().await.ok()?;
        Some(((), offers))
    });
    let messages = changes.filter_map(move |()| {
        let tools = tools::fingerprint(&hub, app.as_deref());
        let is_news = std::mem::replace(&mut known, tools) != tools;
        ready(is_news.then(|| tools_changed(Some(&id))))
    });
    messages.boxed()
}

fn tools_changed(subscription: Option<&Id>) -> String {
    let changed = match subscription {
        Some(id) => notification(TOOLS_CHANGED, json!({ "_meta": subscribed(id) })),
        None => json!({ "jsonrpc": "2.0", "method": TOOLS_CHANGED }),
    };
    changed.to_string()
}

/// What the messages of a subscription have as `_meta`.
pub fn subscribed(id: &Id) -> Value {
    json!({ "io.modelcontextprotocol/subscriptionId": id.value() })
}
