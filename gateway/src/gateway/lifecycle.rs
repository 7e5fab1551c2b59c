//! How far the gateway's life has come, for those that have to end with it.

use tokio::sync::watch;

/// What the gateway does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It serves.
    Serving,
    /// It takes no new calls and lets those in flight end.
    Draining,
    /// It ends what is left.
    Stopping,
}

/// The phase, which only goes forward.
#[derive(Debug)]
pub(crate) struct Lifecycle(watch::Sender<Phase>);

impl Lifecycle {
    pub(crate) fn new() -> Self {
        Lifecycle(watch::Sender::new(Phase::Serving))
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Goes on to `phase`.
    pub(crate) fn enter(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = *now < phase;
            *now = (*now).max(phase);
            later
        });
    }

    /// Waits for `phase`, or a later one.
    pub(crate) fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.0.subscribe();
        async move {
            let _ = phases.wait_for(|now| *now >= phase).await;
        }
    }
}
