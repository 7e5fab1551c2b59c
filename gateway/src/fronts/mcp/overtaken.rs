//! Cancels of one MCP session that come before their requests, or after the end of these.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::wire::json_rpc::Id;

/// How many ids of ended requests are kept, to tell a late cancel from an early one.
const OVER: usize = 256;
/// How many cancels may wait for their requests.
const EARLY: usize = 64;
/// The longest id that a cancel may wait for, in bytes. No request has a longer id, unless the limit was
/// raised.
const ID_BYTES: usize = 256;
/// How long a request may take to arrive after its cancel.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cancels of one session that have overtaken their requests. Each message is an HTTP request of its own,
/// and a large one takes longer.
#[derive(Debug, Default)]
pub(super) struct Overtaken {
    over: VecDeque<Id>,
    early: VecDeque<(Id, Instant)>,
}

impl Overtaken {
    /// A request has ended. From now on its cancel is too late.
    pub(super) fn over(&mut self, id: Id) {
        self.over.push_back(id);
        if self.over.len() > OVER {
            self.over.pop_front();
        }
    }

    /// Whether that request is known to have ended.
    pub(super) fn is_over(&self, id: &Id) -> bool {
        self.over.contains(id)
    }

    /// A cancel has come for a request that is not in flight. The cancel waits for the request, unless the
    /// request has ended.
    pub(super) fn wait(&mut self, id: &Id, since: Instant) {
        if is_long(id) || self.is_over(id) {
            return;
        }
        self.early.push_back((id.clone(), since));
        if self.early.len() > EARLY {
            self.early.pop_front();
        }
    }

    /// A request has come. If a cancel waits for it, the cancel is used up, the request is over, and this
    /// returns true.
    pub(super) fn take_cancel(&mut self, id: &Id) -> bool {
        self.early.retain(|(_, at)| at.elapsed() < PATIENCE);
        let before = self.early.len();
        self.early.retain(|(early, _)| early != id);
        let was_waiting = self.early.len() < before;
        if was_waiting {
            self.over(id.clone());
        }
        was_waiting
    }
}

/// Whether the id is too long for a cancel to wait for its request.
pub(super) fn is_long(id: &Id) -> bool {
    id.value().as_str().is_some_and(|id| id.len() > ID_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(id: serde_json::Value) -> Id {
        Id::read(&id).unwrap()
    }

    #[test]
    fn an_early_cancel_counts_once_and_a_late_one_never() {
        let (one, text) = (id(json!(1)), id(json!("1")));
        let mut overtaken = Overtaken::default();
        overtaken.wait(&one, Instant::now());
        assert!(!overtaken.take_cancel(&text), "another id");
        assert!(overtaken.take_cancel(&one));
        assert!(!overtaken.take_cancel(&one));
        overtaken.wait(&one, Instant::now());
        assert!(!overtaken.take_cancel(&one), "it is over");
        overtaken.over(text.clone());
        overtaken.wait(&text, Instant::now());
        assert!(!overtaken.take_cancel(&text));
    }

    #[test]
    fn what_never_comes_is_forgotten() {
        let mut overtaken = Overtaken::default();
        for number in 0..10_000 {
            overtaken.wait(&id(json!(number)), Instant::now());
            overtaken.over(id(json!(-number - 1)));
        }
        assert_eq!((overtaken.early.len(), overtaken.over.len()), (EARLY, OVER));
        assert!(!overtaken.take_cancel(&id(json!(0))));
        assert!(overtaken.take_cancel(&id(json!(9_999))));
        let long = id("x".repeat(ID_BYTES + 1).into());
        overtaken.wait(&long, Instant::now());
        assert!(!overtaken.take_cancel(&long), "it is not kept");
    }
}
