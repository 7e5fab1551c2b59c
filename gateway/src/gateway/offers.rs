//! What apps offer, and who is told that an app offers something else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::hub::Hub;
use crate::broker::{AppInfo, Offer, Offered, PeerId};
use crate::wire::Failure;

/// Apps listened for, past which those that nobody listens for any more are looked for, 64.
const FEW: usize = 64;

/// Who listens for which app. The number in a channel only says that something has changed.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    /// For the only app there is.
    only: watch::Sender<u64>,
    by_app: Mutex<ByApp>,
}

#[derive(Debug, Default)]
struct ByApp {
    senders: HashMap<Box<str>, watch::Sender<u64>>,
    /// How many there were when it was last looked who still listens.
    swept: usize,
}

impl Listeners {
    fn listen(&self, app: Option<&str>) -> watch::Receiver<u64> {
        let Some(app) = app else {
            return self.only.subscribe();
        };
        let mut by_app = self.by_app();
        if by_app.senders.len() > FEW + 2 * by_app.swept {
            by_app
                .senders
                .retain(|_, sender| sender.receiver_count() > 0);
            by_app.swept = by_app.senders.len();
        }
        let sender = by_app.senders.entry(app.into()).or_default();
        sender.subscribe()
    }

    /// Wakes whoever listens for that app, or for the only one.
    pub fn tell(&self, offered: &Offered) {
        if let Some(sender) = self.by_app().senders.get(&*offered.app) {
            sender.send_modify(|changes| *changes += 1);
        }
        // Of more than two there was no only one before, either.
        if offered.apps <= 2 {
            self.only.send_modify(|changes| *changes += 1);
        }
    }

    fn by_app(&self) -> MutexGuard<'_, ByApp> {
        self.by_app.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// The apps connected, by their ids.
    pub fn apps(&self) -> Vec<AppInfo> {
        self.state().broker.app_infos()
    }

    /// What the app with that id offers; the only one connected, if none is named.
    /// `DISCONNECTED` when there is none, `INVALID_PARAMS` when there are several.
    pub fn offer(&self, app: Option<&str>) -> Result<Arc<Offer>, Failure> {
        self.state().broker.offer(app)
    }

    /// What the app on that connection offers, if it has registered.
    pub(crate) fn offer_on(&self, peer: PeerId) -> Option<Arc<Offer>> {
        self.state().broker.offer_on(peer)
    }

    /// What the apps of this worker offer, by their connections.
    pub fn offers_here(&self) -> Vec<(PeerId, Arc<Offer>)> {
        self.state().broker.offers_here()
    }

    /// Changes whenever [`Hub::offer`] of that app may say something else.
    pub fn offers(&self, app: Option<&str>) -> watch::Receiver<u64> {
        self.listeners.listen(app)
    }

    /// Tells whoever listens what apps offer something else. Not to be called within the hub's lock.
    pub(crate) fn tell_offered(&self, offered: impl IntoIterator<Item = Offered>) {
        for offered in offered {
            self.listeners.tell(&offered);
            if let Some(elsewhere) = self.elsewhere().filter(|_| offered.here) {
                elsewhere.offered(offered.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(app: &str, apps: usize) -> Offered {
        Offered {
            peer: PeerId(1),
            app: app.into(),
            here: true,
            apps,
        }
    }

    #[test]
    fn only_who_listens_for_an_app_is_woken() {
        let listeners = Listeners::default();
        let mut one = listeners.listen(Some("one"));
        let mut two = listeners.listen(Some("two"));
        let mut only = listeners.listen(None);
        let mut woken = |apps| {
            listeners.tell(&offered("one", apps));
            [&mut one, &mut two, &mut only].map(|it| {
                let changed = it.has_changed().unwrap();
                it.mark_unchanged();
                changed
            })
        };
        assert_eq!(woken(1), [true, false, true]);
        assert_eq!(woken(2), [true, false, true], "it was the only one before");
        assert_eq!(woken(3), [true, false, false]);
    }

    #[test]
    fn apps_that_nobody_listens_for_are_forgotten() {
        let listeners = Listeners::default();
        let kept = listeners.listen(Some("kept"));
        (0..1_000).for_each(|number| drop(listeners.listen(Some(&number.to_string()))));
        assert!(listeners.by_app().senders.len() <= FEW + 4);
        listeners.tell(&offered("kept", 9));
        assert!(kept.has_changed().unwrap());
    }
}
