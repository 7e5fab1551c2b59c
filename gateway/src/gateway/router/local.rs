//! An agent on the relay without a socket.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::Client;
use crate::agent::{Agent, Hello, Patience};
use crate::broker;
use crate::gateway::Hub;
use crate::gateway::OutboxStep;

/// Joins the relay as `client`.
pub(super) fn join(hub: &Arc<Hub>, client: &Client) -> Agent {
    let profile = broker::Profile {
        dialect: client.dialect,
        owner: client.owner.clone(),
        seat: broker::Seat::Own,
    };
    let app = client.app.clone().into();
    let (peer, outbox, connected) =
        hub.join(|peer| broker::Event::AgentJoined { peer, app, profile });
    let hello = Hello {
        name: client.name.clone(),
        version: client.version.clone(),
    };
    let patience = Patience {
        grace: hub.limits.confirm_timeout,
        ..Patience::default()
    };
    let (to_relay, mut frames) = mpsc::unbounded_channel();
    let send = move |frame| {
        let _ = to_relay.send(frame);
    };
    let (agent, inlet) = Agent::start(&hello, patience, send);
    let hub = hub.clone();
    tokio::spawn(async move {
        let _connected = connected;
        loop {
            tokio::select! {
                frame = frames.recv() => match frame {
                    Some((text, run)) => hub.receive(peer, &text, None, run),
                    // The agent is over.
                    None => break,
                },
                step = outbox.next() => match step {
                    OutboxStep::Message(message, cost) => {
                        inlet.receive(message.into_text());
                        if outbox.written(cost) {
                            hub.relieved(peer, &outbox);
                        }
                    }
                    OutboxStep::Close(..) => break,
                },
            }
        }
        hub.handle(broker::Event::Gone { peer });
    });
    agent
}
