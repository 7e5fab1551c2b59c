//! Peers of the broker here that stand for apps and agents of other workers.

use std::sync::Arc;

use tokio::task::AbortHandle;

use super::RemoteWorkers;
use crate::broker::{Event, PeerId};
use crate::cluster::WorkerId;
use crate::cluster::message::Parcel;
use crate::gateway::hub::Hub;
use crate::gateway::lifecycle::Connected;
use crate::gateway::outbox::{Outbox, OutboxStep};

/// A peer of the broker that stands for an app or an agent of another worker.
pub(super) struct Proxy {
    pub peer: PeerId,
    pub forwarder: AbortHandle,
}

impl Proxy {
    /// The proxy leaves the broker, because its app or agent is gone.
    pub fn leave(self, hub: &Hub) {
        self.forwarder.abort();
        hub.handle(Event::Gone { peer: self.peer });
    }
}

impl RemoteWorkers {
    /// Sends each message that is queued for `peer` to `worker`, as `parcel` makes it. Stops when the broker
    /// closes the queue, and then calls `closed`.
    pub(super) fn forward(
        &self,
        worker: WorkerId,
        (peer, outbox, connected): (PeerId, Arc<Outbox>, Connected),
        parcel: impl Fn(String) -> Option<Parcel> + Send + 'static,
        closed: impl FnOnce(&RemoteWorkers) + Send + 'static,
    ) -> AbortHandle {
        let remote = self.shared();
        let forwarding = tokio::spawn(async move {
            let _connected = connected;
            while let OutboxStep::Message(message, cost) = outbox.next().await {
                if let Some(parcel) = parcel(message.into_text()) {
                    remote.cluster().send_in_turn(worker, &parcel).await;
                }
                if outbox.written(cost) {
                    remote.hub.relieved(peer, &outbox);
                }
            }
            closed(&remote);
        });
        forwarding.abort_handle()
    }
}
