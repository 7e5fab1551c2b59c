//! What a client is told without having asked for it just now.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch::Receiver;

use super::caller::Caller;
use super::handler::Handler;
use super::tools::fingerprint;
use crate::gateway::Hub;
use crate::gateway::calls::CancelNotice;

/// Tells a session that the tools have changed, and which runs the cancellation API has cancelled,
/// until the session ends.
pub fn session(handler: &Handler, peer: Peer<RoleServer>) -> impl Future<Output = ()> + use<> {
    let ended = handler.ended.clone();
    let mut tools = Tools::of(handler);
    let mut cancels = handler.hub.cancellations();
    async move {
        loop {
            let told = tokio::select! {
                () = ended.cancelled() => return,
                changed = tools.changed() => match changed {
                    true => peer.notify_tool_list_changed().await,
                    false => return,
                },
                notice = cancels.recv() => match notice {
                    Ok(notice) => peer.notify_cancelled(tools.read(notice)).await,
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "a session did not keep up with cancels");
                        continue;
                    }
                    Err(RecvError::Closed) => return,
                },
            };
            if let Err(error) = told {
                tracing::debug!(%error, "a session could not be told");
            }
        }
    }
}

/// Tells a subscription that the tools have changed, until it is closed.
pub async fn subscription(handler: &Handler, subscription: SubscriptionContext) {
    let mut tools = Tools::of(handler);
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            changed = tools.changed() => {
                let sink = subscription.sink();
                if !changed || sink.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The tools of one app, as far as a client knows them.
struct Tools {
    hub: Arc<Hub>,
    caller: Caller,
    offers: Receiver<u64>,
    known: Option<u64>,
}

impl Tools {
    fn of(handler: &Handler) -> Self {
        let mut tools = Tools {
            hub: handler.hub.clone(),
            caller: handler.caller.clone(),
            offers: handler.hub.offers(handler.caller.app.as_deref()),
            known: None,
        };
        tools.offers.mark_unchanged();
        tools.known = tools.now();
        tools
    }

    /// Waits until they are others. False: they never will be again.
    async fn changed(&mut self) -> bool {
        loop {
            if self.offers.changed().await.is_err() {
                return false;
            }
            let now = self.now();
            if now != self.known {
                self.known = now;
                return true;
            }
        }
    }

    fn now(&self) -> Option<u64> {
        let offer = self.hub.offer(self.caller.app.as_deref()).ok()?;
        Some(fingerprint(&offer.capabilities))
    }

    /// The reason is for those who may see the run.
    fn read(&self, notice: CancelNotice) -> CancelledNotificationParam {
        let may_see = notice.concerns(&self.caller.identity);
        let id = RequestId::String(notice.request_id.into());
        CancelledNotificationParam::new(Some(id), notice.reason.filter(|_| may_see))
    }
}
