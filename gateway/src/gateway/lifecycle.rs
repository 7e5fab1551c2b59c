//! The phase of the gateway's life, and who is still there: for tasks that must end with the gateway, and for
//! the gateway, which ends after them.

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

/// The current phase, which only moves forward, and the connections.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    phase: watch::Sender<Phase>,
    /// Each connection has a receiver.
    connections: watch::Sender<()>,
}

/// Counts as a connection until it is dropped.
pub struct Connected {
    _counted: watch::Receiver<()>,
}

impl Lifecycle {
    pub(crate) fn new() -> Self {
        Lifecycle {
            phase: watch::Sender::new(Phase::Serving),
            connections: watch::Sender::default(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Moves on to `phase`.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = *now < phase;
            *now = (*now).max(phase);
            later
        });
    }

    /// Waits for `phase` or a later phase.
    pub(crate) fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.phase.subscribe();
        async move {
            let _ = phases.wait_for(|now| *now >= phase).await;
        }
    }

    /// Counts a connection. The gateway does not end before the connection has ended or the close timeout is
    /// over.
    pub(crate) fn connected(&self) -> Connected {
        Connected {
            _counted: self.connections.subscribe(),
        }
    }

    /// Waits until no connection is left.
    pub(crate) async fn deserted(&self) {
        self.connections.closed().await;
    }
}
