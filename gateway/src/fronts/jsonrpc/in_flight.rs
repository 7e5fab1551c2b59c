//! Requests that wait for their answer.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::gateway::calls::Canceller;
use crate::wire::json_rpc::{Cancel, Id};

/// One connection's requests in flight, by their ids.
#[derive(Default)]
pub(super) struct InFlight {
    requests: Mutex<HashMap<Id, Entry>>,
    calls: watch::Sender<usize>,
}

struct Entry {
    /// What cancels it, if it is a call.
    canceller: Option<Canceller>,
    /// Whether the peer waits for its answer.
    answered: bool,
}

impl InFlight {
    /// Whether a request with that id is in flight.
    pub fn contains(&self, id: &Id) -> bool {
        self.requests.lock().contains_key(id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.requests.lock().len()
    }

    /// A request waits; `canceller` if it is a call.
    pub fn begin(&self, id: Id, canceller: Option<Canceller>) {
        if canceller.is_some() {
            self.calls.send_modify(|calls| *calls += 1);
        }
        let entry = Entry {
            canceller,
            answered: true,
        };
        self.requests.lock().insert(id, entry);
    }

    /// A request is over; `answer` is called if the peer waits for its answer. Its id is free once
    /// that has returned, and not before it was answered.
    pub fn end(&self, id: &Id, answer: impl FnOnce()) {
        let mut requests = self.requests.lock();
        let Some(entry) = requests.remove(id) else {
            return;
        };
        if entry.answered {
            answer();
        }
        drop(requests);
        if entry.canceller.is_some() {
            self.calls.send_modify(|calls| *calls -= 1);
        }
    }

    /// The peer cancels a request. What is not in flight, or no call, is not disturbed.
    pub fn cancel(&self, cancel: Cancel) {
        let canceller = {
            let mut requests = self.requests.lock();
            let Some(entry) = requests.get_mut(&cancel.id) else {
                return;
            };
            let Some(canceller) = entry.canceller.clone() else {
                return;
            };
            entry.answered = cancel.answered;
            canceller
        };
        // What comes of it is told by the call's own end.
        drop(canceller.cancel(cancel.reason));
    }

    /// Cancels every call.
    pub fn cancel_all(&self, reason: &str) {
        let cancellers: Vec<_> = {
            let requests = self.requests.lock();
            let calls = requests.values().filter_map(|it| it.canceller.clone());
            calls.collect()
        };
        for canceller in cancellers {
            drop(canceller.cancel(Some(reason.into())));
        }
    }

    /// Waits until no call is left.
    pub async fn calls_over(&self) {
        let _ = self.calls.subscribe().wait_for(|calls| *calls == 0).await;
    }
}
