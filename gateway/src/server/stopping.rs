//! How a gateway stops: it takes no new calls, lets calls in flight end, cancels the rest, and tells every
//! peer.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use crate::broker::calls::{RunId, RunState};
use crate::broker::{Event, STOPPING};
use crate::cluster::message::Message;
use crate::gateway::Hub;
use crate::tokens::Identity;

/// How often a gateway that drains looks whether it is idle.
const IDLE_POLL: Duration = Duration::from_millis(20);
/// How long the remains of a connection may take after the close timeout.
const GRACE: Duration = Duration::from_millis(500);

/// Stops, in at most `drain`, twice the close timeout, and a little. `serving` ends when no more
/// connections are accepted.
pub(crate) async fn stop(hub: &Hub, drain: Duration, serving: impl Future<Output = ()>) {
    let drain_seconds = drain.as_secs_f64();
    let in_flight = hub.requests_in_flight();
    let (runs, before) = (hub.runs_in_flight(), hub.counters());
    tracing::info!(in_flight, drain_seconds, "stopping");
    hub.handle(Event::Drain);
    if let Some(cluster) = hub.cluster() {
        // New sessions go to other instances of the apps here, if there are any.
        cluster.send_all(&Message::Draining.into());
    }
    let drained = timeout(drain, idle(hub)).await.is_ok();
    if !drained {
        // Agents whose apps confirm in time learn that their calls are cancelled: the response follows the
        // confirmation.
        let cancelled = async {
            cancel_all(hub).await;
            idle(hub).await;
        };
        let _ = timeout(hub.limits.close_timeout, cancelled).await;
    }
    hub.handle(Event::Shutdown);
    let ended = timeout(hub.limits.close_timeout + GRACE, async {
        serving.await;
        hub.lifecycle.deserted().await;
    });
    let closed_in_time = ended.await.is_ok();
    let after = hub.counters();
    let ended = |state| {
        let ended = runs
            .iter()
            .filter_map(|run| hub.run(*run, &Identity::gateway()));
        ended.filter(|run| run.state == state).count()
    };
    tracing::info!(
        completed = ended(RunState::Completed),
        failed = ended(RunState::Failed),
        cancelled = ended(RunState::Cancelled),
        unknown = ended(RunState::Unknown),
        refused = after.refused.saturating_sub(before.refused),
        closed_in_time,
        "stopped"
    );
}

/// Waits until every request is answered, and the ends of the calls of departed agents are known.
async fn idle(hub: &Hub) {
    while !hub.is_idle() {
        sleep(IDLE_POLL).await;
    }
}

async fn cancel_all(hub: &Hub) {
    if let Some(cluster) = hub.cluster() {
        // The other workers cancel the calls that they have on apps of this worker.
        cluster.send_all(&Message::Stopping.into());
    }
    let gateway = Identity::gateway();
    let cancel = |run: RunId| hub.cancel(run, Some(STOPPING.into()), &gateway);
    join_all(hub.runs_in_flight().into_iter().map(cancel)).await;
}
