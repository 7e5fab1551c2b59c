//! The phase of the gateway's life, for tasks that must end with the gateway.

use tokio::sync::watch;

/// What the gateway does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The gateway serves.
    Serving,
    /// The gateway takes no new calls and lets the calls in flight end.
    Draining,
    /// The gateway ends the remaining calls.
    Stopping,
}

/// The current phase, which only moves forward.
#[derive(Debug)]
pub(crate) struct Lifecycle(watch::Sender<Phase>);

impl Lifecycle {
    pub(crate) fn new() -> Self {
        Lifecycle(watch::Sender::new(Phase::Serving))
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Moves on to `phase`.
    pub(crate) fn enter(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let later = *now < phase;
            *now = (*now).max(phase);
            later
        });
    }

    /// Waits for `phase` or a later phase.
    pub(crate) fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.0.subscribe();
        async move {
            let _ = phases.wait_for(|now| *now >= phase).await;
        }
    }
}
