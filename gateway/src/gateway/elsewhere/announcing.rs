//! Apps of this worker, as the others are told of them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::timeout;

use super::Elsewhere;
use crate::broker::Offer;
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message};

/// For the last words of an app that is gone to be on their way.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// After which it is looked whether they are, without being told.
const LOOK: Duration = Duration::from_millis(50);

/// The apps the others have been told of.
pub(super) type Announced = BTreeMap<AppKey, Offer>;

impl Elsewhere {
    /// Tells the others whenever an app comes, goes, or offers something else.
    pub async fn announce(&self) -> Infallible {
        let mut changes = self.hub.offers();
        loop {
            changes.borrow_and_update();
            let here = self.hub.offers_here().into_iter();
            self.tell(here.map(|(peer, offer)| (peer.0, offer)).collect());
            if changes.changed().await.is_err() {
                // The hub is gone, and with it whoever could change.
                std::future::pending::<()>().await;
            }
        }
    }

    fn tell(&self, here: BTreeMap<AppKey, Offer>) {
        let gone: Vec<_> = {
            let mut announced = self.announced();
            for (app, offer) in &here {
                if !announced
                    .get(app)
                    .is_some_and(|known| is_same(known, offer))
                {
                    let (app, offer) = (*app, offer.clone());
                    self.workers.send_all(&Message::App { app, offer }.into());
                }
            }
            let known = announced.keys().copied();
            let gone = known.filter(|app| !here.contains_key(app)).collect();
            *announced = here;
            gone
        };
        for app in gone {
            let elsewhere = self.shared();
            tokio::spawn(async move { elsewhere.farewell(app).await });
        }
    }

    /// Tells a new worker of all.
    pub(super) fn announce_all_to(&self, worker: WorkerId) {
        for (app, offer) in self.announced().clone() {
            self.send(worker, Message::App { app, offer });
        }
    }

    /// Tells that an app has gone, after what it had said to agents elsewhere.
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
        self.workers.send_all(&Message::AppGone { app }.into());
    }

    fn announced(&self) -> MutexGuard<'_, Announced> {
        self.announced
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_same(one: &Offer, other: &Offer) -> bool {
    // Schemas are text: they are compared as they were written.
    serde_json::to_string(one).ok() == serde_json::to_string(other).ok()
}
