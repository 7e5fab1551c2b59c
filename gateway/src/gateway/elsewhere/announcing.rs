//! Tells the other workers of the apps of this worker. An app that has changed is told as it is now, once for
//! all changes that have come meanwhile.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::Elsewhere;
use crate::broker::{Instance, Offer, PeerId};
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
        let now = (offer, instance);
        if announced.get(&app) == Some(&now) {
            return;
        }
        let told = whole(app, &now);
        announced.insert(app, now);
        self.cluster().send_all(&told.into());
    }

    /// Tells a new worker of all apps.
    pub(super) fn announce_all_to(&self, worker: WorkerId) {
        let announced = self.announced.lock();
        for (app, known) in &*announced {
            self.send(worker, whole(*app, known));
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
fn whole(app: AppKey, (offer, instance): &(Arc<Offer>, Instance)) -> Message {
    Message::App {
        app,
        offer: offer.clone(),
        instance: instance.clone(),
    }
}
