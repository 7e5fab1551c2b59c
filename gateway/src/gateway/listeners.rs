//! The listeners of each app.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::broker::Offered;
use crate::tokens::app_of;

/// The number of entries below which unused entries are not removed: 64.
const FEW: usize = 64;

/// The listeners of each app. The number in a channel only signals that something has changed.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    /// Signals changes of any app.
    all: watch::Sender<u64>,
    by_app: Mutex<ByApp>,
}

#[derive(Debug, Default)]
struct ByApp {
    senders: HashMap<Box<str>, watch::Sender<u64>>,
    /// How many entries remained when unused entries were last removed.
    swept: usize,
}

impl Listeners {
    /// A receiver that changes whenever that app, or any app, may offer something else.
    pub fn listen(&self, app: Option<&str>) -> watch::Receiver<u64> {
        let Some(app) = app else {
            return self.all.subscribe();
        };
        let mut by_app = self.by_app.lock();
        if by_app.senders.len() > FEW + 2 * by_app.swept {
            by_app
                .senders
                .retain(|_, sender| sender.receiver_count() > 0);
            by_app.swept = by_app.senders.len();
        }
        // An instance changes with its app.
        let sender = by_app.senders.entry(app_of(app).into()).or_default();
        sender.subscribe()
    }

    /// Wakes the listeners of that app, and the listeners of all apps.
    pub fn tell(&self, offered: &Offered) {
        if let Some(sender) = self.by_app.lock().senders.get(&*offered.app) {
            sender.send_modify(|changes| *changes += 1);
        }
        self.all.send_modify(|changes| *changes += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::PeerId;

    fn offered(app: &str) -> Offered {
        Offered {
            peer: PeerId(1),
            app: app.into(),
            here: true,
        }
    }

    #[test]
    fn only_who_listens_for_an_app_is_woken() {
        let listeners = Listeners::default();
        let mut one = listeners.listen(Some("one"));
        let mut two = listeners.listen(Some("two"));
        let mut all = listeners.listen(None);
        let mut woken = |app| {
            listeners.tell(&offered(app));
            [&mut one, &mut two, &mut all].map(|it| {
                let changed = it.has_changed().unwrap();
                it.mark_unchanged();
                changed
            })
        };
        assert_eq!(woken("one"), [true, false, true]);
        assert_eq!(woken("two"), [false, true, true]);
        assert_eq!(woken("three"), [false, false, true]);
    }

    #[test]
    fn apps_that_nobody_listens_for_are_forgotten() {
        let listeners = Listeners::default();
        let kept = listeners.listen(Some("kept"));
        (0..1_000).for_each(|number| drop(listeners.listen(Some(&number.to_string()))));
        assert!(listeners.by_app.lock().senders.len() <= FEW + 4);
        listeners.tell(&offered("kept"));
        assert!(kept.has_changed().unwrap());
    }
}
