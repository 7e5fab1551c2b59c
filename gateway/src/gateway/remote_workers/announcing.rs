//! Tells the other workers of the apps of this worker. An app that has changed is told as it is now, once for
//! all changes that have come meanwhile.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::timeout;

use super::RemoteWorkers;
use crate::broker::PeerId;
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message};

/// How long the last messages of an app that is gone may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a change waits for room in the queues to slow workers.
const ROOM: Duration = Duration::from_secs(1);
/// How often to look whether an app still serves other workers.
const LOOK: Duration = Duration::from_millis(50);

impl RemoteWorkers {
    /// Tells the other workers of the apps of this worker and of their offers, forever.
    pub async fn announce(&self) -> Infallible {
        // Changes that were not told yet when this task last ended.
        let here = self.hub.offers_here().into_iter();
        self.clustered
            .all_may_have_changed(here.map(|(app, _)| app.0));
        loop {
            // An app that changes again while it waits is told once.
            let app = self.clustered.next_changed().await;
            self.cluster().room_everywhere(ROOM).await;
            self.tell(app);
            // There may be thousands of apps, and the lease must be renewed meanwhile.
            tokio::task::yield_now().await;
        }
    }

    fn tell(&self, app: AppKey) {
        let _order = self.announcing.lock();
        match self.described(app) {
            Some(told) => self.cluster().send_all(&told.into()),
            None => {
                let remote = self.shared();
                tokio::spawn(async move { remote.farewell(app).await });
            }
        }
    }

    /// Tells a new worker of all apps.
    pub(super) fn announce_all_to(&self, worker: WorkerId) {
        let _order = self.announcing.lock();
        for (app, _) in self.hub.offers_here() {
            if let Some(told) = self.described(app.0) {
                self.send(worker, told);
            }
        }
    }

    /// The message that tells everything about an app. `None` if the app has gone.
    fn described(&self, app: AppKey) -> Option<Message> {
        let (offer, instance) = self.hub.instance_on(PeerId(app))?;
        Some(Message::App {
            app,
            offer,
            instance,
        })
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
