//! `caphost serve`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tokio::sync::oneshot;

use super::failure::{Exit, Failure};
use super::signals::Signals;
use super::terminal::say;
use crate::server::{Config, Error, Server};

#[derive(Args, Debug)]
pub(super) struct Serve {
    /// A TOML file with these options under their long names. The command line and the environment win over it.
    #[arg(long, env = "CAPHOST_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    server: Config,
}

impl Serve {
    /// Refuses options that contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        self.server.check()
    }

    /// Serves until a signal arrives.
    pub(super) async fn run(self) -> Result<Exit, Failure> {
        if let Some(file) = &self.config {
            tracing::info!(file = %file.display(), "configured");
        }
        let (www, package) = (&self.server.www, &self.server.package);
        // Without its package the page fails, and the cause would be hard to find.
        if www.is_dir() && !package.is_dir() {
            let package = package.display();
            tracing::warn!(%package, "there is no such directory, so nothing is served under /caphost/: see --package");
        }
        let mut signals = Signals::listen()?;
        let server = match Server::bind(self.server).await {
            Err(Error::Config(message)) => {
                say(&format!("caphost: {message}"));
                return Ok(Exit::Usage);
            }
            bound => bound.map_err(|error| error.to_string())?,
        };
        let address = server.address().map_err(|error| error.to_string())?;
        let scheme = server.scheme();
        let reloading = server.tls().cloned();
        let reloading = reloading.map(|tls| (tls, signals.hang_ups()));
        // A separate thread prints, because the parent process may not read standard output.
        tokio::task::spawn_blocking(move || {
            let _ = writeln!(std::io::stdout(), "caphost: serving {scheme}://{address}/");
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.run(async {
            let _ = stopped.await;
        });
        let signalled = async {
            signals.first().await;
            let _ = stop.send(());
            signals.second().await;
        };
        let reloading = async {
            let Some((tls, mut hang_ups)) = reloading else {
                return std::future::pending().await;
            };
            loop {
                hang_ups.next().await;
                tls.reload_and_log().await;
            }
        };
        tokio::select! {
            () = reloading => {}
            ended = serving => ended.map_err(|error| error.to_string())?,
            () = signalled => return Err(Failure::plain("a second signal has ended it at once")),
        }
        Ok(Exit::Done)
    }
}
