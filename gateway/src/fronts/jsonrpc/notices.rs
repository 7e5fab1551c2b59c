//! Cancels that are not the peer's own: what the cancellation API was asked for.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::peer::Peer;
use crate::fronts::jsonrpc::message::cancel_notice;
use crate::gateway::calls::CancelNotice;

/// Tells the peer, as `notifications/cancelled`, of every cancel the cancellation API is asked for,
/// from now on and until it is gone; except of runs it may not see.
pub(super) fn forward(peer: Arc<Peer>) {
    let notices = peer.hub.cancellations();
    tokio::spawn(tell(peer, notices));
}

async fn tell(peer: Arc<Peer>, mut notices: Receiver<CancelNotice>) {
    loop {
        let notice = tokio::select! {
            () = peer.gone.cancelled() => return,
            notice = notices.recv() => notice,
        };
        match notice {
            Ok(notice) => {
                if notice.concerns(&peer.owner) {
                    peer.send(&cancel_notice(&notice.request_id, notice.reason.as_deref()));
                }
            }
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "cancel notices came too fast for a peer");
            }
            Err(RecvError::Closed) => return,
        }
    }
}
