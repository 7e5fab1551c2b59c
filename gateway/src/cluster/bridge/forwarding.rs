//! What the relay writes to somebody who stands for another, on its way there.

use std::sync::Arc;

use tokio::task::AbortHandle;

use crate::broker::PeerId;
use crate::cluster::Cluster;
use crate::cluster::message::Parcel;
use crate::cluster::worker::WorkerId;
use crate::gateway::Connected;
use crate::gateway::Outbox;
use crate::gateway::OutboxStep;

/// Sends what is queued for `peer` to `worker`, each message as `parcel` makes it, until the relay
/// closes it. `closed` is sent then.
pub(super) fn forward(
    cluster: &Arc<Cluster>,
    worker: WorkerId,
    (peer, outbox, connected): (PeerId, Arc<Outbox>, Connected),
    parcel: impl Fn(String) -> Option<Parcel> + Send + 'static,
    closed: impl FnOnce(&Cluster) + Send + 'static,
) -> AbortHandle {
    let cluster = cluster.clone();
    let forwarding = tokio::spawn(async move {
        let _connected = connected;
        while let OutboxStep::Message(message, cost) = outbox.next().await {
            if let Some(parcel) = parcel(message.into_text()) {
                cluster.send_in_turn(worker, &parcel).await;
            }
            if outbox.written(cost) {
                cluster.hub.relieved(peer, &outbox);
            }
        }
        closed(&cluster);
    });
    forwarding.abort_handle()
}
