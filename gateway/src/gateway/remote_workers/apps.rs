//! Apps of other workers. Each is an app of the broker here.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;

use super::RemoteWorkers;
use super::proxy::Proxy;
use crate::broker::STOPPING;
use crate::broker::{Event, Instance, Offer, PeerId, Seat};
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message, Parcel};
use crate::tokens::Identity;
use crate::wire::Incoming;

impl RemoteWorkers {
    /// Another worker has an app, or the app offers something else now.
    pub(super) fn app_offers(
        &self,
        worker: WorkerId,
        app: AppKey,
        (offer, instance): (&Offer, &Instance),
    ) {
        #[derive(Serialize)]
        struct Payload<'a> {
            #[serde(flatten)]
            offer: &'a Offer,
            instance: &'a Instance,
        }
        let (peer, kind) = match self.app_peer(worker, app) {
            Some(peer) => (peer, "app/update"),
            None => (self.join_app(worker, app, &offer.app.id), "app/register"),
        };
        let Ok(offer) = serde_json::to_string(&Payload { offer, instance }) else {
            return;
        };
        // The schemas stay as they were written.
        let message = format!(r#"{{"type":"{kind}","id":0,"timestamp":0,"payload":{offer}}}"#);
        let limits = &self.hub.limits;
        let incoming = Incoming::new(&message, None, limits);
        self.hub
            .handle(Event::told(peer, incoming.envelope(limits)));
    }

    fn join_app(&self, worker: WorkerId, app: AppKey, id: &str) -> PeerId {
        let joined = self.hub.join(|peer| Event::AppJoined {
            peer,
            // The app's own worker has checked the token.
            identity: Some(Identity::anyone()),
            seat: Seat::Elsewhere,
        });
        let peer = joined.0;
        // The name appears in the log if the app is refused.
        joined.1.log_app(&format!("{id} on worker {worker}"));
        let hub = self.hub.clone();
        let parcel = move |message: String| {
            to_app(app, message, |agent| {
                hub.state().broker.quota_key_on(peer, agent)
            })
        };
        // If the app offers something else later, the broker may accept it.
        let closed = move |remote: &RemoteWorkers| {
            remote.of(worker, |other| {
                let is_it = other.apps.get(&app).is_some_and(|it| it.peer == peer);
                is_it.then(|| other.apps.remove(&app))
            });
        };
        let mut others = self.others();
        let forwarder = self.forward(worker, joined, parcel, closed);
        if let Some(other) = others.all.get_mut(&worker) {
            other.apps.insert(app, Proxy { peer, forwarder });
        }
        peer
    }

    /// An app of another worker has gone.
    pub(super) fn app_gone(&self, worker: WorkerId, app: AppKey) {
        if let Some(proxy) = self.of(worker, |other| other.apps.remove(&app)) {
            proxy.leave(&self.hub);
        }
    }

    /// An app of another worker sends a message to an agent here.
    pub(super) fn app_said(&self, worker: WorkerId, app: AppKey, agent: String, text: &Bytes) {
        let Some(peer) = self.app_peer(worker, app) else {
            return;
        };
        let Ok(message) = std::str::from_utf8(text) else {
            return;
        };
        let limits = &self.hub.limits;
        let incoming = Incoming::new(message, Some(text), limits);
        let event = match incoming.envelope(limits) {
            Ok(mut envelope) => {
                envelope.agent = Some(agent.into());
                Event::received(peer, Ok(envelope))
            }
            Err(mut refusal) => {
                refusal.subject.agent = Some(agent);
                Event::Refused { peer, refusal }
            }
        };
        self.hub.handle(event);
    }

    /// An app of another worker no longer serves an agent here.
    pub(super) fn app_lost_agent(&self, worker: WorkerId, app: AppKey, agent: String) {
        if let Some(peer) = self.app_peer(worker, app) {
            self.hub.handle(Event::AgentLost { app: peer, agent });
        }
    }

    /// A worker takes no new calls. New sessions of its apps go to another app, or the gateway refuses them.
    pub(super) fn apps_drain(&self, worker: WorkerId) {
        for peer in self.apps_of(worker) {
            self.hub.handle(Event::AppDraining { peer });
        }
    }

    /// A worker is about to leave. Cancels the calls in flight on the apps of that worker.
    pub(super) fn cancel_on_apps_of(&self, worker: WorkerId) {
        let apps = self.apps_of(worker).into_iter();
        for run in apps.flat_map(|app| self.hub.runs_on(app)) {
            let hub = self.hub.clone();
            tokio::spawn(async move {
                let reason = Some(STOPPING.into());
                hub.cancel(run, reason, &Identity::gateway()).await;
            });
        }
    }

    fn apps_of(&self, worker: WorkerId) -> Vec<PeerId> {
        let apps = self.of(worker, |other| {
            Some(other.apps.values().map(|proxy| proxy.peer).collect())
        });
        apps.unwrap_or_default()
    }

    fn app_peer(&self, worker: WorkerId, app: AppKey) -> Option<PeerId> {
        self.of(worker, |other| Some(other.apps.get(&app)?.peer))
    }
}

/// Turns a message of the broker to an app into the message to the app's worker.
fn to_app(
    app: AppKey,
    message: String,
    quota_key: impl FnOnce(&str) -> Option<Arc<str>>,
) -> Option<Parcel> {
    // Messages to the app itself, such as `app/registered`, are not needed on that worker.
    let (kind, agent) = head(&message)?;
    let agent = agent.to_string();
    if kind == "agent/closed" {
        return Some(Message::AgentGone { app, agent }.into());
    }
    let quota_key = (kind == "initialize").then(|| quota_key(&agent)).flatten();
    Some(Parcel {
        message: Message::ToApp {
            app,
            agent,
            quota_key,
        },
        text: message.into(),
    })
}

/// The type and the agent of a message of the broker. The broker itself has written everything in the message
/// up to the agent.
fn head(message: &str) -> Option<(&str, &str)> {
    let (kind, rest) = message.strip_prefix(r#"{"type":""#)?.split_once('"')?;
    let (head, rest) = rest.split_once(r#""agent":""#)?;
    if head.contains(r#""payload""#) {
        return None;
    }
    Some((kind, rest.split_once('"')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_broker_says_whose_it_is() {
        for (message, whose) in [
            (
                r#"{"type":"capabilities/call","id":"g7","agent":"a3","timestamp":1,"payload":{}}"#,
                Some(("capabilities/call", "a3")),
            ),
            (
                r#"{"type":"agent/closed","agent":"a3","timestamp":1,"payload":{}}"#,
                Some(("agent/closed", "a3")),
            ),
            (
                r#"{"type":"error","id":0,"timestamp":1,"payload":{"agent":"a3"}}"#,
                None,
            ),
            (
                r#"{"type":"app/registered","id":0,"timestamp":1,"payload":{}}"#,
                None,
            ),
        ] {
            assert_eq!(head(message), whose, "{message}");
        }
    }
}
