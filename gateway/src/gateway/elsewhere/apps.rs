//! Apps of other workers, as apps of the broker here.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;

use super::Elsewhere;
use super::proxy::Proxy;
use crate::broker::STOPPING;
use crate::broker::{CapabilityInfo, Event, Instance, Offer, PeerId, Seat};
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message, Parcel};
use crate::tokens::Identity;
use crate::wire::Incoming;

/// What the broker says of a change that does not fit what it knows begins so: changes have the id 1.
const MISFIT: &str = r#"{"type":"error","id":1,"#;

impl Elsewhere {
    /// A worker holds an app, or it offers something else now.
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
        // Its schemas stay the text they are.
        let message = format!(r#"{{"type":"{kind}","id":0,"timestamp":0,"payload":{offer}}}"#);
        self.told(peer, &message);
    }

    /// An app there has changed what it offers.
    pub(super) fn app_changed(
        &self,
        worker: WorkerId,
        app: AppKey,
        added: &[CapabilityInfo],
        removed: &[String],
    ) {
        let Some(peer) = self.app_peer(worker, app) else {
            // It was refused: as it is now it may be taken.
            return self.send(worker, Message::TellApp { app });
        };
        let (Ok(added), Ok(removed)) =
            (serde_json::to_string(added), serde_json::to_string(removed))
        else {
            return;
        };
        let message = format!(
            r#"{{"type":"app/update","id":1,"timestamp":0,"payload":{{"added":{added},"removed":{removed}}}}}"#
        );
        self.told(peer, &message);
    }

    /// In the place of an app there.
    fn told(&self, peer: PeerId, message: &str) {
        let limits = &self.hub.limits;
        let incoming = Incoming::new(message, None, limits);
        self.hub
            .handle(Event::told(peer, incoming.envelope(limits)));
    }

    fn join_app(&self, worker: WorkerId, app: AppKey, id: &str) -> PeerId {
        let joined = self.hub.join(|peer| Event::AppJoined {
            peer,
            // Its worker has seen its token.
            identity: Some(Identity::anyone()),
            seat: Seat::Elsewhere,
        });
        let peer = joined.0;
        // For the log, should it be refused.
        joined.1.log_app(&format!("{id} on worker {worker}"));
        let hub = self.hub.clone();
        let parcel = move |message: String| {
            if message.starts_with(MISFIT) {
                return Some(Message::TellApp { app }.into());
            }
            to_app(app, message, |agent| {
                hub.state().broker.holder_on(peer, agent)
            })
        };
        // If it offers something else it may be taken.
        let closed = move |elsewhere: &Elsewhere| {
            elsewhere.of(worker, |other| {
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

    /// An app there has gone.
    pub(super) fn app_gone(&self, worker: WorkerId, app: AppKey) {
        if let Some(proxy) = self.of(worker, |other| other.apps.remove(&app)) {
            proxy.leave(&self.hub);
        }
    }

    /// An app there says something to an agent of ours.
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

    /// An app there does not serve an agent of ours any more.
    pub(super) fn app_lost_agent(&self, worker: WorkerId, app: AppKey, agent: String) {
        if let Some(peer) = self.app_peer(worker, app) {
            self.hub.handle(Event::AgentLost { app: peer, agent });
        }
    }

    /// A worker takes no new calls: new sessions of its apps go elsewhere, or are refused.
    pub(super) fn apps_drain(&self, worker: WorkerId) {
        for peer in self.apps_of(worker) {
            self.hub.handle(Event::AppDraining { peer });
        }
    }

    /// A worker is about to leave: what is in flight on its apps is cancelled.
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

/// A message of the broker to an app, as it goes to the worker that has it.
fn to_app(
    app: AppKey,
    message: String,
    holder: impl FnOnce(&str) -> Option<Arc<str>>,
) -> Option<Parcel> {
    // What it says to the app itself, such as `app/registered`, is of no interest there.
    let (kind, agent) = head(&message)?;
    let agent = agent.to_string();
    if kind == "agent/closed" {
        return Some(Message::AgentGone { app, agent }.into());
    }
    let holder = (kind == "initialize").then(|| holder(&agent)).flatten();
    Some(Parcel {
        message: Message::ToApp { app, agent, holder },
        text: message.into(),
    })
}

/// The type and the agent of a message that the broker has written. Up to the agent there is nothing
/// in it but what the broker itself has chosen.
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
