//! The bridge's end of the relay: an app's connection without a socket.

use std::any::Any;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::broker::{CloseCode, Event, PeerId, Seat};
use crate::gateway::Hub;
use crate::gateway::OutboxStep;
use crate::tokens::Identity;

/// Messages taken out of the relay's queue before they are dealt with; the others count as unread.
const TAKEN: usize = 64;

/// Keeps the gateway from stopping while somebody has a clone, for as long as it waits for its
/// connections.
pub type KeepAlive = Arc<dyn Any + Send + Sync>;

/// What comes from the relay.
pub enum Incoming {
    /// A message, as JSON.
    Message(String),
    /// The relay has closed.
    Closed(CloseCode, String),
}

/// An app's connection to the relay; dropping it leaves the relay.
pub struct Link {
    hub: Arc<Hub>,
    peer: PeerId,
    incoming: mpsc::Receiver<Incoming>,
    pump: AbortHandle,
    pub keep: KeepAlive,
}

impl Link {
    /// Joins the relay. `tasks` run what waits.
    pub fn join(hub: &Arc<Hub>, tasks: &Handle) -> Self {
        let (peer, outbox, connected) = hub.join(|peer| Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: Seat::Own,
        });
        let (taken, incoming) = mpsc::channel(TAKEN);
        let relieved = hub.clone();
        let pump = tasks.spawn(async move {
            loop {
                match outbox.next().await {
                    OutboxStep::Message(message, cost) => {
                        if taken
                            .send(Incoming::Message(message.into_text()))
                            .await
                            .is_err()
                        {
                            return;
                        }
                        if outbox.written(cost) {
                            relieved.relieved(peer, &outbox);
                        }
                    }
                    OutboxStep::Close(code, reason) => {
                        let _ = taken.send(Incoming::Closed(code, reason)).await;
                        return;
                    }
                }
            }
        });
        Link {
            hub: hub.clone(),
            peer,
            incoming,
            pump: pump.abort_handle(),
            keep: Arc::new(connected),
        }
    }

    /// The next thing that comes.
    pub async fn next(&mut self) -> Incoming {
        let closed = || Incoming::Closed(CloseCode::GOING_AWAY, "The gateway stops".into());
        self.incoming.recv().await.unwrap_or_else(closed)
    }

    /// What has come already.
    pub fn queued(&mut self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }

    /// Sends a message, of the agent named or of the app itself.
    pub fn send(&self, agent: Option<&str>, kind: &str, id: Option<&Value>, payload: Value) {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut envelope = json!({ "type": kind, "timestamp": unix.as_millis() as u64 });
        if let Some(agent) = agent {
            envelope["agent"] = agent.into();
        }
        if let Some(id) = id {
            envelope["id"] = id.clone();
        }
        envelope["payload"] = payload;
        self.hub
            .receive(self.peer, &envelope.to_string(), None, None);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.pump.abort();
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}
