//! The signals that end the process: SIGINT, SIGTERM and SIGHUP. On other systems than Unix, Ctrl-C. A server
//! with TLS uses SIGHUP to read its certificate again.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Signals that follow each other within this time count as one. A terminal sends Ctrl-C both to this process
/// and to the npm process that started it, and npm passes the signal on.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// The signals since this value was created.
pub(super) struct Signals {
    #[cfg(unix)]
    sources: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    /// Starts listening. From now on a signal does not end the process by itself.
    #[cfg(unix)]
    pub(super) fn listen() -> Result<Self, String> {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let sources: std::io::Result<_> = kinds.into_iter().map(signal).collect();
        let sources = sources.map_err(|error| format!("cannot wait for signals: {error}"))?;
        Ok(Signals { sources })
    }

    /// Takes SIGHUP out of the signals that end the process.
    #[cfg(unix)]
    pub(super) fn hang_ups(&mut self) -> HangUps {
        HangUps(self.sources.pop())
    }

    #[cfg(not(unix))]
    pub(super) fn hang_ups(&mut self) -> HangUps {
        HangUps
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> Result<Self, String> {
        Ok(Signals {})
    }

    /// Waits for the first signal.
    pub(super) async fn first(&mut self) {
        self.next().await;
    }

    /// Waits for the second signal. Must be called after `first`.
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

/// SIGHUP, which asks a server to read its files again.
#[cfg(unix)]
pub(super) struct HangUps(Option<tokio::signal::unix::Signal>);
#[cfg(not(unix))]
pub(super) struct HangUps;

impl HangUps {
    /// Waits for the next SIGHUP.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(hang_up) = &mut self.0
            && hang_up.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
