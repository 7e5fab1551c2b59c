//! Requests whose cancel came first.

use std::collections::VecDeque;
use std::time::Duration;

use rmcp::model::RequestId;
use tokio::time::Instant;

/// Ids of requests that are over, kept to tell a cancel that comes too late from one that is early.
const OVER: usize = 1_024;
/// Cancels that wait for their request.
const EARLY: usize = 64;
/// Bytes of an id that is waited for: no request has a longer one, unless the limit was raised.
const ID_BYTES: usize = 256;
/// For a request to arrive after its cancel.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cancels of one session that have overtaken their requests: each message is an HTTP request
/// of its own, and a large one takes longer.
#[derive(Debug, Default)]
pub struct Overtaken {
    over: VecDeque<RequestId>,
    early: VecDeque<(RequestId, Instant)>,
}

impl Overtaken {
    /// A request is over: its cancel comes too late from now on.
    pub fn over(&mut self, id: RequestId) {
        self.over.push_back(id);
        if self.over.len() > OVER {
            self.over.pop_front();
        }
    }

    /// A cancel has come for a request that is not in flight. Whether that may be still to come.
    pub fn cancelled(&mut self, id: &RequestId) -> bool {
        let is_long = matches!(id, RequestId::String(text) if text.len() > ID_BYTES);
        if is_long || self.over.contains(id) {
            return false;
        }
        self.early.push_back((id.clone(), Instant::now()));
        if self.early.len() > EARLY {
            self.early.pop_front();
        }
        true
    }

    /// A request has come. Whether its cancel was there before it; it is over then.
    pub fn take(&mut self, id: &RequestId) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_cancel_counts_once_and_a_late_one_never() {
        let one = RequestId::Number(1);
        let text = RequestId::String("1".into());
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
        for id in 0..10_000 {
            overtaken.cancelled(&RequestId::Number(id));
            overtaken.over(RequestId::Number(-id - 1));
        }
        assert_eq!((overtaken.early.len(), overtaken.over.len()), (EARLY, OVER));
        assert!(!overtaken.take(&RequestId::Number(0)));
        assert!(overtaken.take(&RequestId::Number(9_999)));
        let long = RequestId::String("x".repeat(ID_BYTES + 1).into());
        overtaken.cancelled(&long);
        assert!(!overtaken.take(&long), "it is not kept");
    }
}
