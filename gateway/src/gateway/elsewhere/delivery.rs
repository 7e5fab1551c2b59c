//! Delivers the messages of a session on another worker to its app here. The messages are written as fast as
//! the app reads, and the other worker is told how much was written. The broker there counts the rest as
//! waiting. So an app that does not keep up gets no more calls, as if it were connected there.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::Elsewhere;
use crate::cluster::WorkerId;
use crate::cluster::message::{Message, TunnelId};
use crate::gateway::outbox::{Outbox, OutboxStep};

/// How many bytes may be in the app's queue before nothing is added: 64 KiB, or a quarter of the queue's
/// limit.
const AHEAD_BYTES: usize = 64 << 10;
/// How many written bytes make a report to the other worker due.
const TELL_BYTES: usize = 256 << 10;
/// The time after which a report is due in any case.
const TELL: Duration = Duration::from_millis(100);

/// Writes the messages of `said` to `outbox` until no sender is left.
pub(super) async fn deliver(
    elsewhere: Arc<Elsewhere>,
    worker: WorkerId,
    tunnel: TunnelId,
    outbox: Arc<Outbox>,
    mut said: UnboundedReceiver<OutboxStep>,
) {
    let ahead = AHEAD_BYTES.min(elsewhere.hub.limits.queued_bytes / 4);
    let (mut messages, mut bytes) = (0, 0);
    loop {
        let next = match messages {
            0 => Ok(said.recv().await),
            _ if bytes >= TELL_BYTES => Ok(None),
            _ => timeout(TELL, said.recv()).await,
        };
        match next {
            Ok(Some(OutboxStep::Message(message, cost))) => {
                // A large message goes alone: it always fits an empty queue.
                let few = if cost > ahead { 0 } else { ahead };
                outbox.drained(few).await;
                outbox.push(message);
                (messages, bytes) = (messages + 1, bytes + cost);
            }
            Ok(Some(OutboxStep::Close(code, reason))) => outbox.close(code, reason),
            Ok(None) if messages == 0 => return,
            Ok(None) | Err(_) => {
                elsewhere.send(worker, Message::Written { tunnel, messages });
                (messages, bytes) = (0, 0);
            }
        }
    }
}
