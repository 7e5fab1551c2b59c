//! Signals that ask to stop: Ctrl-C, a supervisor, a terminal that closes.

use std::io;

/// Once made, such signals do not end the process any more.
pub(super) struct Interrupts {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl Interrupts {
    /// Must be made within a runtime.
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let signals = kinds.into_iter().map(signal).collect::<io::Result<_>>()?;
        Ok(Interrupts { signals })
    }

    /// Resolves at the next one.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        let received = self.signals.iter_mut().map(|it| Box::pin(it.recv()));
        futures_util::future::select_all(received).await;
    }

    /// Must be made within a runtime.
    #[cfg(not(unix))]
    pub fn new() -> io::Result<Self> {
        Ok(Interrupts {})
    }

    /// Resolves at the next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
