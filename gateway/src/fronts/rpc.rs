//! Requests with ids, as JSON-RPC, MCP and RAP have them.
//!
//! The broker's record of a call knows everything about the call. This table knows which call a peer means by an
//! id, and whether the peer still waits for the answer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::gateway::Step;
use crate::gateway::calls::{Call, CancelNotice, Canceller};
use crate::seldom::Seldom;
use crate::tokens::Identity;
use crate::wire::json_rpc::{Id, cancel_notice};

/// The requests of one peer that wait for their answers.
#[derive(Debug)]
pub(crate) struct InFlight<K = Id>(watch::Sender<HashMap<K, Waiting>>);

#[derive(Debug)]
struct Waiting {
    /// The handle that cancels the call, once the request has become a call.
    canceller: Option<Canceller>,
    over: CancellationToken,
}

/// Why a request cannot begin: another one with the same id is in flight.
#[derive(Debug)]
pub(crate) struct Used<K> {
    /// The id of the other request.
    pub by: K,
    /// Whether the other request has become a call.
    pub is_call: bool,
}

/// A request that waits for its answer. Its id is free again when the request ends or is dropped.
#[derive(Debug)]
pub(crate) struct Request<K: Clone + Eq + Hash = Id> {
    pub id: K,
    in_flight: Arc<InFlight<K>>,
    /// Cancelled when the request is not in flight any more: it has ended, or its peer has given it up.
    pub over: CancellationToken,
}

impl<K> Default for InFlight<K> {
    fn default() -> Self {
        InFlight(watch::Sender::default())
    }
}

impl<K: Clone + Eq + Hash> InFlight<K> {
    /// A request begins, unless its id is in use.
    pub fn begin(self: &Arc<Self>, id: &K) -> Result<Request<K>, Used<K>> {
        let over = CancellationToken::new();
        let mut used = None;
        self.0.send_if_modified(|all| {
            used = all.get_key_value(id).map(|(id, waiting)| Used {
                by: id.clone(),
                is_call: waiting.canceller.is_some(),
            });
            let waiting = || Waiting {
                canceller: None,
                over: over.clone(),
            };
            used.is_none() && all.insert(id.clone(), waiting()).is_none()
        });
        match used {
            Some(used) => Err(used),
            None => Ok(Request {
                id: id.clone(),
                in_flight: self.clone(),
                over,
            }),
        }
    }

    /// Waits until the request with that id has become a call, or is over.
    pub async fn begun(&self, id: &K) {
        let is_begun = |all: &HashMap<K, Waiting>| {
            let waiting = all.get(id);
            waiting.is_none_or(|it| it.canceller.is_some())
        };
        let _ = self.0.subscribe().wait_for(is_begun).await;
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

    /// The peer no longer waits for a request that is no call. Returns false if no such request is in flight.
    pub fn give_up(&self, id: &K) -> bool {
        self.0.send_if_modified(|all| {
            let is_call = all.get(id).is_none_or(|it| it.canceller.is_some());
            let given_up = (!is_call).then(|| all.remove(id)).flatten();
            given_up.inspect(|it| it.over.cancel()).is_some()
        })
    }

    /// Cancels every call whose id is meant. The requests are over for their peer if they are no longer `answered`,
    /// also those that are no calls.
    pub fn cancel_each(&self, is_meant: impl Fn(&K) -> bool, reason: &str, answered: bool) {
        let mut calls = Vec::new();
        self.0.send_if_modified(|all| {
            let given_up = all.extract_if(|id, waiting| {
                let is_meant = is_meant(id);
                calls.extend(waiting.canceller.clone().filter(|_| is_meant));
                is_meant && !answered
            });
            given_up.inspect(|(_, it)| it.over.cancel()).count() > 0
        });
        for canceller in calls {
            canceller.cancel(Some(reason.into()));
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

impl<K: Clone + Eq + Hash> Request<K> {
    /// The request has become that call, which its peer may cancel from now on.
    pub fn becomes(&self, call: &Call) {
        self.in_flight.0.send_if_modified(|all| {
            // After a cancel, the id may be that of another request.
            if !self.over.is_cancelled()
                && let Some(waiting) = all.get_mut(&self.id)
            {
                waiting.canceller = Some(call.canceller());
            }
            true
        });
    }

    /// The request's call has ended. The request goes on under another id, and its own id is free again.
    pub fn rename(&mut self, id: K) {
        self.in_flight.0.send_if_modified(|all| {
            let is_awaited = !self.over.is_cancelled();
            if is_awaited {
                all.remove(&self.id);
                let over = self.over.clone();
                let canceller = None;
                all.insert(id.clone(), Waiting { canceller, over });
            }
            is_awaited
        });
        self.id = id;
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

impl<K: Clone + Eq + Hash> Drop for Request<K> {
    fn drop(&mut self) {
        self.end(|| ());
    }
}

/// The next `notifications/cancelled` for that owner, about a run that the owner may see. `None` when no more
/// will come. Dropping this future loses nothing.
pub(crate) async fn next_cancelled(
    cancels: &mut Receiver<CancelNotice>,
    owner: &Identity,
) -> Option<Value> {
    loop {
        match cancels.recv().await {
            Ok(notice) if notice.concerns(owner) => {
                let (id, reason) = (&notice.request_id, notice.reason.as_deref());
                return Some(cancel_notice(id, reason));
            }
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => {
                static SAID: Seldom = Seldom::new();
                if SAID.is_due() {
                    tracing::warn!(missed, "a session did not keep up with cancels");
                }
            }
            Err(RecvError::Closed) => return None,
        }
    }
}
