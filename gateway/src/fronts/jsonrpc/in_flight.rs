//! Requests that wait for their answer.

use std::collections::HashMap;

use tokio::sync::watch;

use crate::gateway::calls::Canceller;
use crate::wire::json_rpc::{Cancel, Id};

/// The requests in flight on one connection, by their ids.
#[derive(Default)]
pub(super) struct InFlight(watch::Sender<HashMap<Id, Entry>>);

struct Entry {
    /// The handle that cancels the request, if the request is a call.
    canceller: Option<Canceller>,
    /// Whether the peer waits for the answer.
    answered: bool,
}

impl InFlight {
    /// Whether a request with that id is in flight.
    pub fn contains(&self, id: &Id) -> bool {
        self.0.borrow().contains_key(id)
    }

    /// How many requests are in flight.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// A request begins. A call has a `canceller`.
    pub fn begin(&self, id: Id, canceller: Option<Canceller>) {
        let entry = Entry {
            canceller,
            answered: true,
        };
        self.0.send_modify(|all| drop(all.insert(id, entry)));
    }

    /// A request is over. If the peer waits for the answer, `answer` sends it. The id becomes free only after
    /// that.
    pub fn end(&self, id: &Id, answer: impl FnOnce()) {
        self.0.send_modify(|all| {
            if all.remove(id).is_some_and(|it| it.answered) {
                answer();
            }
        });
    }

    /// The peer cancels a request. Nothing happens if the request is not in flight or is not a call.
    pub fn cancel(&self, cancel: Cancel) {
        let mut canceller = None;
        self.0.send_if_modified(|all| {
            if let Some(entry) = all.get_mut(&cancel.id)
                && entry.canceller.is_some()
            {
                canceller = entry.canceller.clone();
                // A peer that no longer waits for the answer cannot change its mind.
                entry.answered &= cancel.answered;
            }
            false
        });
        if let Some(canceller) = canceller {
            // The end of the call tells whether the cancel succeeded.
            canceller.cancel(cancel.reason);
        }
    }

    /// Cancels every call.
    pub fn cancel_all(&self, reason: &str) {
        let cancellers: Vec<_> = {
            let all = self.0.borrow();
            let calls = all.values().filter_map(|it| it.canceller.clone());
            calls.collect()
        };
        for canceller in cancellers {
            canceller.cancel(Some(reason.into()));
        }
    }

    /// Waits until no request is in flight.
    pub async fn over(&self) {
        let _ = self.0.subscribe().wait_for(HashMap::is_empty).await;
    }

    /// Waits until only calls are in flight.
    pub async fn but_calls_over(&self) {
        let are_calls = |all: &HashMap<Id, Entry>| all.values().all(|it| it.canceller.is_some());
        let _ = self.0.subscribe().wait_for(are_calls).await;
    }
}
