//! Requests that wait for their answer.

use std::collections::HashMap;

use tokio::sync::watch;

use crate::gateway::calls::Canceller;
use crate::wire::json_rpc::{Cancel, Id};

/// One connection's requests in flight, by their ids.
#[derive(Default)]
pub(super) struct InFlight(watch::Sender<HashMap<Id, Entry>>);

struct Entry {
    /// What cancels it, if it is a call.
    canceller: Option<Canceller>,
    /// Whether the peer waits for its answer.
    answered: bool,
}

impl InFlight {
    /// Whether a request with that id is in flight.
    pub fn contains(&self, id: &Id) -> bool {
        self.0.borrow().contains_key(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// A request waits; `canceller` if it is a call.
    pub fn begin(&self, id: Id, canceller: Option<Canceller>) {
        let entry = Entry {
            canceller,
            answered: true,
        };
        self.0.send_modify(|all| drop(all.insert(id, entry)));
    }

    /// A request is over. If the peer waits for its answer, `answer` gives it. The id is free only after that.
    pub fn end(&self, id: &Id, answer: impl FnOnce()) {
        self.0.send_modify(|all| {
            if all.remove(id).is_some_and(|it| it.answered) {
                answer();
            }
        });
    }

    /// The peer cancels a request. Nothing happens if it is not in flight, or is no call.
    pub fn cancel(&self, cancel: Cancel) {
        let mut canceller = None;
        self.0.send_if_modified(|all| {
            if let Some(entry) = all.get_mut(&cancel.id)
                && entry.canceller.is_some()
            {
                canceller = entry.canceller.clone();
                // A peer that has given a request up does not take that back.
                entry.answered &= cancel.answered;
            }
            false
        });
        if let Some(canceller) = canceller {
            // What comes of it is told by the call's own end.
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

    /// Waits until there is none.
    pub async fn over(&self) {
        let _ = self.0.subscribe().wait_for(HashMap::is_empty).await;
    }

    /// Waits until calls are all there is.
    pub async fn but_calls_over(&self) {
        let are_calls = |all: &HashMap<Id, Entry>| all.values().all(|it| it.canceller.is_some());
        let _ = self.0.subscribe().wait_for(are_calls).await;
    }
}
