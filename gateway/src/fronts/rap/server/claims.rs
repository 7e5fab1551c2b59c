//! Which worker has taken an invocation: a runtime that has heard nothing sends it again, and a
//! load balancer may pass that to another worker.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::{Denied, Name};
use super::state::RapServer;
use crate::cluster::{Away, Life, WorkerId};
use crate::fronts::rap::wire::Invocation;

/// A claim of a worker that died is kept for this much longer than its call may take.
const MARGIN: Duration = Duration::from_secs(60);

/// What all workers know of an invocation while it is in flight.
#[derive(Deserialize, Serialize)]
struct Taken {
    /// The worker that has taken it, by its id then.
    worker: WorkerId,
    fingerprint: u64,
}

/// The right of this worker to an invocation.
pub(super) struct Claim {
    key: String,
    /// What was written to Redis.
    fact: Vec<u8>,
    /// Whether it was written for this invocation, and not for one before.
    is_new: bool,
}

impl Claim {
    /// One that was written for this invocation, or would have been if Redis had answered.
    fn written(key: String, fact: Vec<u8>) -> Self {
        Claim {
            key,
            fact,
            is_new: true,
        }
    }
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

impl RapServer {
    /// Claims an invocation for this worker. Without Redis each worker knows its own only, and there
    /// is nothing to claim.
    pub(super) async fn claim(
        &self,
        name: &Name,
        fingerprint: u64,
    ) -> Result<Option<Claim>, Denied> {
        let Name {
            owner,
            app,
            thread,
            id,
        } = name;
        let key = format!("rap:{}", json!([owner.name, app, thread, id]));
        let Some(cluster) = self.hub.cluster() else {
            return Ok(None);
        };
        let time = self.options.call_timeout.saturating_add(MARGIN);
        let mine = Taken {
            worker: cluster.me(),
            fingerprint,
        };
        let fact = serde_json::to_vec(&mine).unwrap_or_default();
        let before = match cluster.claim_fact(&key, &fact, time).await {
            Ok(Some(before)) => before,
            // Redis has not heard, and is not told later for lack of room.
            Err(Away) if !cluster.holds_fact(&key) => return Err(Denied::Unsure),
            Ok(None) | Err(Away) => return Ok(Some(Claim::written(key, fact))),
        };
        let Ok(other) = serde_json::from_slice::<Taken>(&before) else {
            // A later version may write it differently.
            return Err(Denied::Unsure);
        };
        match cluster.life_of(other.worker) {
            Life::Here => Ok(Some(Claim {
                key,
                fact: before,
                is_new: false,
            })),
            Life::There if other.fingerprint == fingerprint => Err(Denied::Again),
            Life::There => Err(Denied::Taken),
            Life::Unsure => Err(Denied::Unsure),
            // That worker has died, and its call with it. One of the others takes over.
            Life::Over => match cluster.replace_fact(&key, &before, &fact, time).await {
                Ok(true) | Err(Away) => Ok(Some(Claim::written(key, fact))),
                Ok(false) => Err(Denied::Unsure),
            },
        }
    }

    /// Gives a claim back, as another invocation of that name is in flight here. A claim that was written for
    /// the other one stays.
    pub(super) async fn withdraw_claim(&self, claim: Claim) {
        if claim.is_new {
            self.release_claim(claim).await;
        }
    }

    /// Its call has ended: the id may be used again, on any worker.
    pub(super) async fn release_claim(&self, claim: Claim) {
        let Claim { key, fact, .. } = claim;
        if let Some(cluster) = self.hub.cluster()
            && let Err(error) = cluster.release_fact(&key, &fact).await
        {
            tracing::debug!(%error, key, "an invocation is still claimed");
        }
    }
}
