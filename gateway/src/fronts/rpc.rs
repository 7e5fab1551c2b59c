//! Requests with ids, as JSON-RPC, MCP and RAP have them.
//!
//! The broker's record of a call knows everything about the call. This table knows which call a peer means by an
//! id, and whether the peer still waits for the answer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::gateway::Step;
use crate::gateway::calls::{Call, Canceller};
use crate::wire::json_rpc::Id;

/// The requests of one peer that wait for their answers.
#[derive(Debug)]
pub(crate) struct InFlight<K = Id>(watch::Sender<HashMap<K, Waiting>>);

#[derive(Debug)]
struct Waiting {
    /// The handle that cancels the call, once the request has become a call.
    canceller: Option<Canceller>,
    over: CancellationToken,
}

/// A request that waits for its answer. Its id is free again when the request ends or is dropped.
#[derive(Debug)]
pub(crate) struct Request<K: Eq + Hash = Id> {
    pub id: K,
    in_flight: Arc<InFlight<K>>,
    /// Cancelled when the request is not in flight any more: it has ended, or its peer has given it up.
    over: CancellationToken,
}

impl<K> Default for InFlight<K> {
    fn default() -> Self {
        InFlight(watch::Sender::default())
    }
}

impl<K: Clone + Eq + Hash> InFlight<K> {
    /// A request begins. `None` if its id is in use.
    pub fn begin(self: &Arc<Self>, id: &K) -> Option<Request<K>> {
        let over = CancellationToken::new();
        let waiting = Waiting {
            canceller: None,
            over: over.clone(),
        };
        let is_new = self.0.send_if_modified(|all| {
            let is_new = !all.contains_key(id);
            if is_new {
                all.insert(id.clone(), waiting);
            }
            is_new
        });
        is_new.then(|| Request {
            id: id.clone(),
            in_flight: self.clone(),
            over,
        })
    }

    /// How many requests are in flight.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Cancels a call. Its end tells whether the cancel succeeded, if the request is still `answered`. Otherwise
    /// the request is over for its peer. Returns false if no such call is in flight.
    pub fn cancel(&self, id: &K, reason: Option<String>, answered: bool) -> bool {
        let mut canceller = None;
        self.0.send_if_modified(|all| {
            canceller = all.get(id).and_then(|it| it.canceller.clone());
            let gives_up = canceller.is_some() && !answered;
            let given_up = gives_up.then(|| all.remove(id)).flatten();
            given_up.inspect(|it| it.over.cancel()).is_some()
        });
        let canceller = canceller.inspect(|it| it.cancel(reason));
        canceller.is_some()
    }

    /// Cancels every call whose id is meant, as [`InFlight::cancel`] does.
    pub fn cancel_each(&self, is_meant: impl Fn(&K) -> bool, reason: &str, answered: bool) {
        let meant: Vec<_> = {
            let all = self.0.borrow();
            all.keys().filter(|id| is_meant(id)).cloned().collect()
        };
        for id in meant {
            self.cancel(&id, Some(reason.into()), answered);
        }
    }

    /// Waits until no request is in flight.
    pub async fn over(&self) {
        let _ = self.0.subscribe().wait_for(HashMap::is_empty).await;
    }

    /// Waits until only calls are in flight.
    pub async fn but_calls_over(&self) {
        let are_calls = |all: &HashMap<K, Waiting>| all.values().all(|it| it.canceller.is_some());
        let _ = self.0.subscribe().wait_for(are_calls).await;
    }
}

impl<K: Eq + Hash> Request<K> {
    /// The request has become that call, which its peer may cancel from now on.
    pub fn becomes(&self, call: &Call) {
        self.in_flight.0.send_if_modified(|all| {
            if let Some(waiting) = all.get_mut(&self.id) {
                waiting.canceller = Some(call.canceller());
            }
            false
        });
    }

    /// The next step of the request's call. `None` if the peer no longer waits for the answer. Dropping this
    /// future loses nothing.
    pub async fn next(&self, call: &mut Call) -> Option<Step> {
        self.over.run_until_cancelled(call.next()).await
    }

    /// The request ends. If its peer waits for the answer, `answer` sends the answer, and this returns true. Its
    /// id becomes free only after that.
    pub fn end(&self, answer: impl FnOnce()) -> bool {
        self.in_flight.0.send_if_modified(|all| {
            let is_awaited = !self.over.is_cancelled();
            if is_awaited {
                answer();
                self.over.cancel();
                all.remove(&self.id);
            }
            is_awaited
        })
    }
}

impl<K: Eq + Hash> Drop for Request<K> {
    fn drop(&mut self) {
        self.end(|| ());
    }
}
