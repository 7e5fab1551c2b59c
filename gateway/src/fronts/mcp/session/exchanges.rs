//! The requests of one session that are in flight, and those whose cancel came first.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::gateway::calls::Canceller;

/// Ids of requests that are over, kept to tell a cancel that comes too late from one that is early.
const OVER: usize = 1_024;
/// Cancels that wait for their request.
const EARLY: usize = 64;
/// Bytes of an id that is waited for: no request has a longer one, unless the limit was raised.
const ID_BYTES: usize = 256;
/// For a request to arrive after its cancel.
const PATIENCE: Duration = Duration::from_secs(10);

/// Requests in flight, by the session's own ids.
#[derive(Default)]
pub struct Exchanges {
    last: i64,
    open: HashMap<i64, Exchange>,
    overtaken: Overtaken,
}

struct Exchange {
    /// The id the client gave it.
    id: RequestId,
    answer: Answer,
}

/// How a request is answered.
pub enum Answer {
    /// By the SDK, into that stream.
    Sdk(Sender<ServerSseMessage>),
    /// By a call, with what cancels it once it is made, and what ends its stream.
    Call(Option<Canceller>, CancellationToken),
}

/// Why a request is not taken.
pub enum NotEntered {
    /// The session has ended.
    Gone,
    /// Its cancel came first: it is not answered.
    Cancelled,
    /// Its id is in use.
    InFlight,
}

/// The answer to a request whose id is in use.
pub fn id_in_use(id: &RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::invalid_request("A request with this id is in flight", None);
    ServerJsonRpcMessage::error(error, Some(id.clone()))
}

impl Exchanges {
    /// A request has come: the session's own id of it.
    pub fn enter(&mut self, id: &RequestId, answer: Answer) -> Result<i64, NotEntered> {
        if self.find(id).is_some() {
            return Err(NotEntered::InFlight);
        }
        if self.overtaken.take(id) {
            return Err(NotEntered::Cancelled);
        }
        self.last += 1;
        let id = id.clone();
        self.open.insert(self.last, Exchange { id, answer });
        Ok(self.last)
    }

    /// The session's own id of a request in flight.
    pub fn find(&self, id: &RequestId) -> Option<i64> {
        let found = self.open.iter().find(|(_, it)| it.id == *id);
        found.map(|(own, _)| *own)
    }

    /// How a request in flight is answered.
    pub fn answer_mut(&mut self, own: i64) -> Option<&mut Answer> {
        Some(&mut self.open.get_mut(&own)?.answer)
    }

    /// A request is answered, or will never be: the id its client gave it, and how.
    pub fn over(&mut self, own: i64) -> Option<(RequestId, Answer)> {
        let Exchange { id, answer } = self.open.remove(&own)?;
        self.overtaken.over(id.clone());
        Some((id, answer))
    }

    /// A cancel has come for a request that is not in flight. Whether that may be still to come.
    pub fn cancelled(&mut self, id: &RequestId) -> bool {
        self.overtaken.cancelled(id)
    }

    /// Those in flight.
    pub fn all(&self) -> Vec<i64> {
        self.open.keys().copied().collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

/// The cancels of one session that have overtaken their requests: each message is an HTTP request
/// of its own, and a large one takes longer.
#[derive(Debug, Default)]
struct Overtaken {
    over: VecDeque<RequestId>,
    early: VecDeque<(RequestId, Instant)>,
}

impl Overtaken {
    /// A request is over: its cancel comes too late from now on.
    fn over(&mut self, id: RequestId) {
        self.over.push_back(id);
        if self.over.len() > OVER {
            self.over.pop_front();
        }
    }

    /// A cancel has come for a request that is not in flight. Whether that may be still to come.
    fn cancelled(&mut self, id: &RequestId) -> bool {
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
    fn take(&mut self, id: &RequestId) -> bool {
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
