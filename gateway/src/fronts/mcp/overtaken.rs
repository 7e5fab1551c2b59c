//! Cancels of one MCP session that have come before their requests, or after their end.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::wire::json_rpc::Id;

/// Ids of requests that are over, kept to tell a cancel that comes too late from one that is early.
const OVER: usize = 256;
/// Cancels that wait for their request.
const EARLY: usize = 64;
/// Bytes of an id that is waited for: no request has a longer one, unless the limit was raised.
const ID_BYTES: usize = 256;
/// How long a request may take to arrive after its cancel.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cancels of one session that have overtaken their requests: each message is an HTTP request
/// of its own, and a large one takes longer.
#[derive(Debug, Default)]
pub(super) struct Overtaken {
    over: VecDeque<Id>,
    early: VecDeque<(Id, Instant)>,
}

impl Overtaken {
    /// A request is over: its cancel comes too late from now on.
    pub(super) fn over(&mut self, id: Id) {
        self.over.push_back(id);
        if self.over.len() > OVER {
            self.over.pop_front();
        }
    }

    /// A cancel has come for a request that is not in flight. Whether that may be still to come.
    pub(super) fn cancelled(&mut self, id: &Id) -> bool {
        self.cancelled_at(id, Instant::now())
    }

    /// The same of one that came at that time.
    pub(super) fn cancelled_at(&mut self, id: &Id, at: Instant) -> bool {
        if is_long(id) || self.over.contains(id) {
            return false;
        }
        self.early.push_back((id.clone(), at));
        if self.early.len() > EARLY {
            self.early.pop_front();
        }
        true
    }

    /// A request has come. Whether its cancel was there before it; it is over then.
    pub(super) fn take(&mut self, id: &Id) -> bool {
        self.early.retain(|(_, at)| at.elapsed() < PATIENCE);
        let before = self.early.len();
        self.early.retain(|(early, _)| early != id);
        let overtaken = self.early.len() < before;
        if overtaken {
            self.over(id.clone());
        }
        overtaken
    }
}

/// Whether a cancel of that request is not kept until it comes.
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
        overtaken.cancelled(&one);
        assert!(!overtaken.take(&text), "another id");
        assert!(overtaken.take(&one));
        assert!(!overtaken.take(&one));
        overtaken.cancelled(&one);
        assert!(!overtaken.take(&one), "it is over");
        overtaken.over(text.clone());
        overtaken.cancelled(&text);
        assert!(!overtaken.take(&text));
    }

    #[test]
    fn what_never_comes_is_forgotten() {
        let mut overtaken = Overtaken::default();
        for number in 0..10_000 {
            overtaken.cancelled(&id(json!(number)));
            overtaken.over(id(json!(-number - 1)));
        }
        assert_eq!((overtaken.early.len(), overtaken.over.len()), (EARLY, OVER));
        assert!(!overtaken.take(&id(json!(0))));
        assert!(overtaken.take(&id(json!(9_999))));
        let long = id("x".repeat(ID_BYTES + 1).into());
        overtaken.cancelled(&long);
        assert!(!overtaken.take(&long), "it is not kept");
    }
}
