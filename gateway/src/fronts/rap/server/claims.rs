//! Which worker has taken an invocation. A runtime that gets no answer sends the invocation again, and a load
//! balancer may send it to another worker.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::calls::{Denied, Name};
use super::state::RapServer;
use crate::cluster::{Away, Life, WorkerId};
use crate::fronts::rap::names::Identifier;
use crate::fronts::rap::wire::Invocation;

/// How much longer than the call may take the claim of a dead worker is kept.
const MARGIN: Duration = Duration::from_secs(60);

/// The record of an invocation in flight, which all workers can read.
#[derive(Deserialize, Serialize)]
struct Taken {
    /// The worker that has taken the invocation, by its id at that time.
    worker: WorkerId,
    fingerprint: u64,
}

/// The claim of this worker to an invocation.
pub(super) struct Claim {
    key: String,
    /// The record in Redis.
    fact: Vec<u8>,
}

/// A number that distinguishes invocations with the same id. All workers compute the same number.
pub(super) fn fingerprint(invocation: &Invocation) -> u64 {
    let Invocation {
        operation,
        arguments,
        callback_url,
        ..
    } = invocation;
    // A runtime that sends the invocation again sends the same text.
    let arguments = arguments.as_deref().map_or("{}", RawValue::get);
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    hasher.hash_one((operation, callback_url, arguments))
}

impl RapServer {
    /// Claims an invocation for this worker. Without Redis each worker knows only its own invocations, and
    /// there is nothing to claim.
    pub(super) async fn claim(
        &self,
        thread: &Identifier,
        name: &Name,
    ) -> Result<Option<Claim>, Denied> {
        let Name {
            owner,
            app,
            id,
            fingerprint,
            ..
        } = name;
        let key = format!("rap:{}", json!([owner.name, app, thread, id]));
        let Some(cluster) = self.hub.cluster() else {
            return Ok(None);
        };
        let time = self.options.call_timeout.saturating_add(MARGIN);
        let mine = Taken {
            worker: cluster.me(),
            fingerprint: *fingerprint,
        };
        let fact = serde_json::to_vec(&mine).unwrap_or_default();
        let before = match cluster.claim_fact(&key, &fact, time).await {
            Ok(Some(before)) => before,
            // Redis has not heard of the claim, and is not told later because there is no room.
            Err(Away) if !cluster.holds_fact(&key) => return Err(Denied::Unsure),
            Ok(None) | Err(Away) => return Ok(Some(Claim { key, fact })),
        };
        let Ok(other) = serde_json::from_slice::<Taken>(&before) else {
            // A later version may write the record in another form.
            return Err(Denied::Unsure);
        };
        match cluster.life_of(other.worker) {
            // The claim of an earlier invocation, which could not be released.
            Life::Here => Ok(Some(Claim { key, fact: before })),
            Life::There if other.fingerprint == *fingerprint => Err(Denied::Again),
            Life::There => Err(Denied::Taken),
            Life::Unsure => Err(Denied::Unsure),
            // The worker that had claimed the invocation has died, and so has its call. One of the other
            // workers takes over.
            Life::Over => match cluster.replace_fact(&key, &before, &fact, time).await {
                Ok(true) | Err(Away) => Ok(Some(Claim { key, fact })),
                Ok(false) => Err(Denied::Unsure),
            },
        }
    }

    /// The call has ended, so its id may be used again on any worker.
    pub(super) async fn release_claim(&self, claim: Claim) {
        let Claim { key, fact, .. } = claim;
        if let Some(cluster) = self.hub.cluster()
            && let Err(error) = cluster.release_fact(&key, &fact).await
        {
            tracing::debug!(%error, key, "an invocation is still claimed");
        }
    }
}
