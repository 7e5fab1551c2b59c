//! Which worker has taken an invocation: a runtime that has heard nothing sends it again, and a
//! load balancer may pass that to another worker.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::gateway::cluster::WorkerId;
use crate::gateway::rap::names::Identifier;
use crate::gateway::rap::wire::Invocation;
use crate::gateway::server::Hub;
use crate::gateway::tokens::Identity;

/// Longer than its call may take, a claim is kept of a worker that died.
const MARGIN: Duration = Duration::from_secs(60);

/// What is kept of an invocation while it is in flight.
#[derive(Deserialize, Serialize)]
struct Claim {
    worker: WorkerId,
    fingerprint: u64,
}

/// Whose an invocation is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// This worker's, as far as is known here.
    Here,
    /// Another worker's: it was sent again.
    Again,
    /// Another worker has another one of that id in flight.
    Taken,
}

/// Names an invocation to all workers.
pub(super) struct Name(String);

impl Name {
    pub(super) fn of(owner: &Identity, app: &str, thread: &Identifier, id: &Identifier) -> Self {
        Name(format!("rap:{}", json!([owner.name, app, thread, id])))
    }
}

/// Tells an invocation from another with its id, on all workers alike.
pub(super) fn fingerprint(invocation: &Invocation) -> u64 {
    let Invocation {
        operation,
        arguments,
        callback_url,
        ..
    } = invocation;
    // Members are in the order of their names.
    let arguments = serde_json::to_vec(arguments).unwrap_or_default();
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    hasher.hash_one((operation, callback_url, arguments))
}

/// The claims of this worker.
pub(super) struct Claims {
    hub: Arc<Hub>,
    time: Duration,
}

impl Claims {
    /// On invocations whose calls take `call_timeout` at most.
    pub(super) fn new(hub: Arc<Hub>, call_timeout: Duration) -> Self {
        let time = call_timeout.saturating_add(MARGIN);
        Claims { hub, time }
    }

    /// Claims an invocation for this worker. Without Redis each worker knows its own only.
    pub(super) async fn claim(&self, name: &Name, fingerprint: u64) -> Claimed {
        let Some(cluster) = self.hub.cluster() else {
            return Claimed::Here;
        };
        let mine = Claim {
            worker: cluster.me(),
            fingerprint,
        };
        let json = serde_json::to_vec(&mine).unwrap_or_default();
        let Ok(Some(before)) = cluster.claim_fact(&name.0, &json, self.time).await else {
            return Claimed::Here;
        };
        match serde_json::from_slice::<Claim>(&before) {
            Ok(other) if other.worker == mine.worker => Claimed::Here,
            Ok(other) if cluster.takes_part(other.worker) => match other.fingerprint == fingerprint
            {
                true => Claimed::Again,
                false => Claimed::Taken,
            },
            // That worker has died, and its call with it.
            _ => {
                let _ = cluster.set_fact(&name.0, &json, self.time).await;
                Claimed::Here
            }
        }
    }

    /// Its call has ended: the id may be used again, on any worker.
    pub(super) async fn release(&self, name: &Name) {
        if let Some(cluster) = self.hub.cluster()
            && let Err(error) = cluster.drop_fact(&name.0).await
        {
            tracing::debug!(%error, name = name.0, "an invocation is still claimed");
        }
    }
}
