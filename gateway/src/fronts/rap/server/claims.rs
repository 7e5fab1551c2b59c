//! Which worker has taken an invocation: a runtime that has heard nothing sends it again, and a
//! load balancer may pass that to another worker.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::Name;
use crate::cluster::{Away, Life, WorkerId};
use crate::fronts::rap::wire::Invocation;
use crate::gateway::Hub;

/// A claim of a worker that died is kept for this much longer than its call may take.
const MARGIN: Duration = Duration::from_secs(60);

/// What all workers know of an invocation while it is in flight.
#[derive(Deserialize, Serialize)]
struct Taken {
    /// The worker that has taken it, by its id then.
    worker: WorkerId,
    /// The name that worker keeps while it lives.
    #[serde(default)]
    home: String,
    fingerprint: u64,
}

/// The right of this worker to an invocation.
pub(super) struct Claim {
    key: String,
    /// What was written to Redis.
    fact: Vec<u8>,
}

/// Whose an invocation is.
pub(super) enum Claimed {
    /// It is this worker's, as far as is known here.
    Here(Claim),
    /// It is another worker's: the runtime has sent it again.
    Again,
    /// Another worker has a different invocation with that id in flight.
    Taken,
    /// It is the claim of a worker that may be alive or not, which will be known soon.
    Unsure,
}

/// Tells invocations with the same id apart, in the same way on all workers.
pub(super) fn fingerprint(invocation: &Invocation) -> u64 {
    let Invocation {
        operation,
        arguments,
        callback_url,
        ..
    } = invocation;
    // Whoever sends it again sends the same text.
    let arguments = arguments.as_deref().map_or("{}", RawValue::get);
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    hasher.hash_one((operation, callback_url, arguments))
}

/// The claims of this worker.
pub(super) struct Claims {
    hub: Arc<Hub>,
    time: Duration,
}

impl Claims {
    /// For invocations whose calls take at most `call_timeout`.
    pub(super) fn new(hub: Arc<Hub>, call_timeout: Duration) -> Self {
        let time = call_timeout.saturating_add(MARGIN);
        Claims { hub, time }
    }

    /// Claims an invocation for this worker. Without Redis each worker knows its own only.
    pub(super) async fn claim(&self, name: &Name, fingerprint: u64) -> Claimed {
        let Name {
            owner,
            app,
            thread,
            id,
        } = name;
        let key = format!("rap:{}", json!([owner.name, app, thread, id]));
        let Some(workers) = self.hub.workers() else {
            let fact = Vec::new();
            return Claimed::Here(Claim { key, fact });
        };
        let mine = Taken {
            worker: workers.me(),
            home: workers.home().into(),
            fingerprint,
        };
        let fact = serde_json::to_vec(&mine).unwrap_or_default();
        let Ok(Some(before)) = workers.claim_fact(&key, &fact, self.time).await else {
            return Claimed::Here(Claim { key, fact });
        };
        let Ok(other) = serde_json::from_slice::<Taken>(&before) else {
            // A later version may write it differently.
            return Claimed::Unsure;
        };
        match workers.life_of(&other.home, other.worker) {
            Life::Here => Claimed::Here(Claim { key, fact: before }),
            Life::There if other.fingerprint == fingerprint => Claimed::Again,
            Life::There => Claimed::Taken,
            Life::Unsure => Claimed::Unsure,
            // That worker has died, and its call with it. One of the others takes over.
            Life::Over => match workers.replace_fact(&key, &before, &fact, self.time).await {
                Ok(true) | Err(Away) => Claimed::Here(Claim { key, fact }),
                Ok(false) => Claimed::Unsure,
            },
        }
    }

    /// Its call has ended: the id may be used again, on any worker.
    pub(super) async fn release(&self, claim: Claim) {
        let Claim { key, fact } = claim;
        if let Some(workers) = self.hub.workers()
            && let Err(error) = workers.release_fact(&key, &fact).await
        {
            tracing::debug!(%error, key, "an invocation is still claimed");
        }
    }
}
