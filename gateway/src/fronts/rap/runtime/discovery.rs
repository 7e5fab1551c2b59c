//! Finding out what a tool server offers, again and again.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use super::limits::RuntimeLimits;
use super::requests::Requests;
use crate::fronts::rap::pauses::Pauses;
use crate::fronts::rap::wire::Toolset;

/// Between two looks when somebody asks for one.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// What is known of a tool server: its toolset, while there is a valid one.
pub(super) type Known = Option<Arc<Toolset>>;

/// Keeps `known` up to date until nobody wants to know any more. A server that fails keeps its
/// toolset for [`RuntimeLimits::gone_after`]. `look` asks for a look before it is due.
pub(super) async fn discover(
    requests: Arc<Requests>,
    limits: Arc<RuntimeLimits>,
    look: Arc<Notify>,
    known: watch::Sender<Known>,
) {
    let mut pauses = Pauses::new(limits.first_pause, limits.longest_pause);
    let mut text = Vec::new();
    let mut failing: Option<Instant> = None;
    loop {
        let found = tokio::select! {
            found = requests.toolset() => found,
            () = known.closed() => return,
        };
        let pause = match found {
            Ok((read, toolset)) => {
                if failing.take().is_some() {
                    tracing::info!(server = ?requests.server, "tool server is back");
                }
                pauses.reset();
                if read != text || known.borrow().is_none() {
                    text = read;
                    known.send_replace(Some(Arc::new(toolset)));
                }
                limits.refresh_interval
            }
            Err(error) => {
                if failing.is_none() {
                    tracing::warn!(server = ?requests.server, error, "no toolset");
                }
                let since = *failing.get_or_insert_with(Instant::now);
                if since.elapsed() >= limits.gone_after {
                    known.send_if_modified(|known| known.take().is_some());
                }
                pauses.next()
            }
        };
        let asked = async {
            look.notified().await;
            sleep(LEAST_PAUSE.min(pause)).await;
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = asked => {}
            () = known.closed() => return,
        }
    }
}
