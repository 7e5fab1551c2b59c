//! Tells the other workers of the apps of this worker. Each change is told once. Of an app that the others
//! know already, only the difference is told.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::Elsewhere;
use crate::broker::{CapabilityInfo, Instance, Offer, PeerId};
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message};

/// How long the last messages of an app that is gone may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a change waits for room in the queues to slow workers.
const ROOM: Duration = Duration::from_secs(1);
/// How often to look whether an app still serves other workers.
const LOOK: Duration = Duration::from_millis(50);

/// The apps that the other workers have been told of.
pub(super) type Announced = BTreeMap<AppKey, (Arc<Offer>, Instance)>;

/// How an offer has changed.
#[derive(Debug, PartialEq)]
enum Change {
    None,
    /// These capabilities are different.
    Some {
        added: Vec<CapabilityInfo>,
        removed: Vec<String>,
    },
    All,
}

impl Elsewhere {
    /// Tells the other workers of the apps of this worker and of their offers, forever.
    pub async fn announce(&self) -> Infallible {
        // Changes that were not told yet when this task last ended.
        let here = self.hub.offers_here().into_iter();
        let known: Vec<_> = self.announced.lock().keys().copied().collect();
        let all = here.map(|(app, _)| app.0).chain(known);
        self.clustered.all_may_have_changed(all);
        loop {
            // An app that changes again while it waits is told once.
            for app in self.clustered.changed().await {
                self.cluster().room_everywhere(ROOM).await;
                self.tell(app);
                // There may be thousands of apps, and the lease must be renewed meanwhile.
                tokio::task::yield_now().await;
            }
        }
    }

    fn tell(&self, app: AppKey) {
        let offer = self.hub.instance_on(PeerId(app));
        // The lock is held until the message is sent. So a new worker is told of the app either before or
        // after.
        let mut announced = self.announced.lock();
        let Some((offer, instance)) = offer else {
            if announced.remove(&app).is_some() {
                let elsewhere = self.shared();
                tokio::spawn(async move { elsewhere.farewell(app).await });
            }
            return;
        };
        let known = announced.insert(app, (offer.clone(), instance.clone()));
        let told = match known.map_or(Change::All, |(known, _)| change(&known, &offer)) {
            Change::None => return,
            Change::All => whole(app, (&offer, &instance)),
            Change::Some { added, removed } => Message::AppChanged {
                app,
                added,
                removed,
            },
        };
        self.cluster().send_all(&told.into());
    }

    /// Tells a new worker of all apps.
    pub(super) fn announce_all_to(&self, worker: WorkerId) {
        let announced = self.announced.lock();
        for (app, (offer, instance)) in &*announced {
            self.send(worker, whole(*app, (offer, instance)));
        }
    }

    /// Tells a worker everything about an app, because the worker could not apply a change.
    pub(super) fn announce_to(&self, worker: WorkerId, app: AppKey) {
        let announced = self.announced.lock();
        if let Some((offer, instance)) = announced.get(&app) {
            self.send(worker, whole(app, (offer, instance)));
        }
    }

    /// Tells the other workers that an app has gone, after the app's last messages to their agents.
    async fn farewell(&self, app: AppKey) {
        let silent = async {
            loop {
                let departed = self.departed.notified();
                if !self.serves_others(app) {
                    break;
                }
                let _ = timeout(LOOK, departed).await;
            }
        };
        let _ = timeout(LAST_WORDS, silent).await;
        self.cluster().send_all(&Message::AppGone { app }.into());
    }
}

/// The message that tells everything about an app.
fn whole(app: AppKey, (offer, instance): (&Arc<Offer>, &Instance)) -> Message {
    Message::App {
        app,
        offer: offer.clone(),
        instance: instance.clone(),
    }
}

/// The difference between two offers. A receiver that applies a difference has the capabilities in order of
/// their names. So an offer in another order is told as a whole.
fn change(known: &Offer, offer: &Offer) -> Change {
    if known == offer {
        return Change::None;
    }
    let is_sorted = |offer: &Offer| {
        let names = offer.capabilities.iter().map(|it| &it.name);
        names.is_sorted_by(|one, next| one < next)
    };
    if known.app != offer.app || !is_sorted(known) || !is_sorted(offer) {
        return Change::All;
    }
    // A capability that differs is removed and added again.
    let added = without(offer, known).cloned();
    let removed = without(known, offer).map(|it| it.name.clone());
    Change::Some {
        added: added.collect(),
        removed: removed.collect(),
    }
}

/// The capabilities of `one` that `other` lacks or has in another form.
fn without<'a>(one: &'a Offer, other: &'a Offer) -> impl Iterator<Item = &'a CapabilityInfo> {
    let other: HashMap<_, _> = other.capabilities.iter().map(|it| (&it.name, it)).collect();
    let all = one.capabilities.iter();
    all.filter(move |it| other.get(&it.name) != Some(it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offer(name: &str, capabilities: &[(&str, &str)]) -> Offer {
        let capabilities = capabilities
            .iter()
            .map(|(name, schema)| json!({ "name": name, "inputSchema": { "title": schema } }));
        let app = json!({ "id": "demo", "name": name, "version": "1" });
        let capabilities: Vec<_> = capabilities.collect();
        serde_json::from_value(json!({ "app": app, "capabilities": capabilities })).unwrap()
    }

    #[test]
    fn only_what_is_different_is_told() {
        let known = offer("Demo", &[("a", "1"), ("b", "1"), ("c", "1")]);
        assert_eq!(change(&known, &known.clone()), Change::None);
        let other = offer("Demo", &[("b", "2"), ("c", "1"), ("d", "1")]);
        let Change::Some { added, removed } = change(&known, &other) else {
            panic!("it is told whole");
        };
        let added: Vec<_> = added.into_iter().map(|it| it.name).collect();
        assert_eq!(
            (&added[..], &removed[..]),
            (
                &["b".to_string(), "d".into()][..],
                &["a".to_string(), "b".into()][..],
            )
        );
    }

    #[test]
    fn what_a_difference_cannot_say_is_told_whole() {
        let known = offer("Demo", &[("a", "1"), ("b", "1")]);
        for other in [
            offer("Another name", &[("a", "1"), ("b", "1")]),
            offer("Demo", &[("b", "1"), ("a", "1")]),
            offer("Demo", &[("a", "1"), ("a", "1")]),
        ] {
            assert_eq!(change(&known, &other), Change::All);
            assert_eq!(change(&other, &known), Change::All);
        }
    }
}
