//! What a session on another worker says to its app here: it is written as fast as the app reads, and
//! the other worker is told how much was. What is not written waits there as far as the broker knows, so
//! that an app which does not keep up is given no more calls, as if it were connected there.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::Elsewhere;
use crate::cluster::WorkerId;
use crate::cluster::message::{Message, TunnelId};
use crate::gateway::outbox::{Outbox, OutboxStep};

/// Bytes in the app's queue beyond which nothing is added: 64 KiB, or a quarter of what it holds.
const AHEAD_BYTES: usize = 64 << 10;
/// Bytes after which the other worker is told.
const TELL_BYTES: usize = 256 << 10;
/// Time after which it is told in any case.
const TELL: Duration = Duration::from_millis(100);

/// Writes what is said to `outbox`, until nobody is left to say anything.
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
                // One that is large goes alone: it always fits.
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
