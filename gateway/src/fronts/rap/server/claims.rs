//! Which worker has taken an invocation: a runtime that has heard nothing sends it again, and a
//! load balancer may pass that to another worker.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cluster::{Away, Life, WorkerId};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::Invocation;
use crate::gateway::Hub;
use crate::tokens::Identity;

/// Longer than its call may take, a claim is kept of a worker that died.
const MARGIN: Duration = Duration::from_secs(60);

/// What all workers know of an invocation while it is in flight.
#[derive(Deserialize, Serialize)]
struct Taken {
    /// Who has taken it: what its id was then, and what it is called while it lives.
    worker: WorkerId,
    #[serde(default)]
    home: String,
    fingerprint: u64,
}

/// An invocation that is this worker's.
pub(super) struct Claim {
    name: Name,
    /// As it was written.
    fact: Vec<u8>,
}

/// Whose an invocation is.
pub(super) enum Claimed {
    /// This worker's, as far as is known here.
    Here(Claim),
    /// Another worker's: it was sent again.
    Again,
    /// Another worker has another one of that id in flight.
    Taken,
    /// A worker's that may live, or not: that will be known soon.
    Unsure,
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
    pub(super) async fn claim(&self, name: Name, fingerprint: u64) -> Claimed {
        let Some(workers) = self.hub.workers() else {
            let fact = Vec::new();
            return Claimed::Here(Claim { name, fact });
        };
        let mine = Taken {
            worker: workers.me(),
            home: workers.home().into(),
            fingerprint,
        };
        let fact = serde_json::to_vec(&mine).unwrap_or_default();
        let Ok(Some(before)) = workers.claim_fact(&name.0, &fact, self.time).await else {
            return Claimed::Here(Claim { name, fact });
        };
        let Ok(other) = serde_json::from_slice::<Taken>(&before) else {
            // Of a version to come, say.
            return Claimed::Unsure;
        };
        match workers.life_of(&other.home, other.worker) {
            Life::Here => Claimed::Here(Claim { name, fact: before }),
            Life::There if other.fingerprint == fingerprint => Claimed::Again,
            Life::There => Claimed::Taken,
            Life::Unsure => Claimed::Unsure,
            // That worker has died, and its call with it. One of those left takes its place.
            Life::Over => {
                let replaced = workers.replace_fact(&name.0, &before, &fact, self.time);
                match replaced.await {
                    Ok(true) | Err(Away) => Claimed::Here(Claim { name, fact }),
                    Ok(false) => Claimed::Unsure,
                }
            }
        }
    }

    /// Its call has ended: the id may be used again, on any worker.
    pub(super) async fn release(&self, claim: Claim) {
        let Claim { name, fact } = claim;
        if let Some(workers) = self.hub.workers()
            && let Err(error) = workers.release_fact(&name.0, &fact).await
        {
            tracing::debug!(%error, name = name.0, "an invocation is still claimed");
        }
    }
}
