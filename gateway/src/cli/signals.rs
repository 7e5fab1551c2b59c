//! The signals that end the process: SIGINT, SIGTERM and SIGHUP; elsewhere than on Unix, Ctrl-C.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Signals that come so soon after one another are one: a terminal sends Ctrl-C to a process and to
/// the npm that started it, which passes it on.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// Signals that have come since it was made.
pub(super) struct Signals {
    #[cfg(unix)]
    sources: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    /// Listens from now on: the process does not end by itself any more.
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        let hang_up = signal(SignalKind::hangup())?;
        Ok(Signals {
            sources: [interrupt, terminate, hang_up],
        })
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Signals {})
    }

    /// The first signal.
    pub(super) async fn first(&mut self) {
        self.next().await;
    }

    /// The second one, after `first`.
    pub(super) async fn second(&mut self) {
        let same = Instant::now() + ONE_SIGNAL;
        while timeout_at(same, self.next()).await.is_ok() {}
        self.next().await;
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        let received = self.sources.iter_mut().map(|it| Box::pin(it.recv()));
        futures_util::future::select_all(received).await;
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
