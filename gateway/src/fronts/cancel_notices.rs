//! Cancels through the cancellation API, for sessions that listen.

use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::gateway::calls::CancelNotice;
use crate::seldom::Seldom;
use crate::tokens::Identity;
use crate::wire::json_rpc::cancel_notice;

/// The next `notifications/cancelled` for that owner, about a run that the owner may see. `None` when no more
/// will come. Dropping this future loses nothing.
pub(crate) async fn next_cancelled(
    cancels: &mut Receiver<CancelNotice>,
    owner: &Identity,
) -> Option<Value> {
    loop {
        match cancels.recv().await {
            Ok(notice) if notice.concerns(owner) => {
                let (id, reason) = (&notice.request_id, notice.reason.as_deref());
                return Some(cancel_notice(id, reason));
            }
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => {
                static SAID: Seldom = Seldom::new();
                if SAID.is_due() {
                    tracing::warn!(missed, "a session did not keep up with cancels");
                }
            }
            Err(RecvError::Closed) => return None,
        }
    }
}
