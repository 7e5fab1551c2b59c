//! The messages between workers.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::broker::calls::{CancelNotice, EarlyCancel, Run, RunId, RunMark};
use crate::broker::{CancelOutcome, Instance, Offer};
use crate::tokens::Identity;
use crate::wire::clipped;

/// How many bytes of an unreadable message the log shows.
const SHOWN_BYTES: usize = 64;

/// The id of an app: its connection to the worker that holds it.
pub type AppKey = u64;

/// The version of the messages between workers, which appears in the logs of other workers. A later version
/// may add messages, which earlier versions skip, and optional fields. Any other change needs another prefix
/// in Redis, and so another cluster.
pub const VERSION: u32 = 2;

/// A message to another worker. "I" is the worker that sends the message, and "you" the worker that receives
/// it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Message {
    /// A greeting with the worker's name.
    Hello {
        /// The worker's name, for logs.
        name: String,
        /// The [`VERSION`] of the worker.
        version: u32,
    },
    /// I hold this app, or the app offers something else now.
    App {
        /// The app.
        app: AppKey,
        /// The app's offer.
        offer: Arc<Offer>,
        /// The app's instance.
        instance: Instance,
    },
    /// This app of mine has gone.
    AppGone {
        /// The app.
        app: AppKey,
    },
    /// A message from an agent of mine to an app of yours. The text is an envelope.
    ToApp {
        /// The app.
        app: AppKey,
        /// The agent's name in messages to the app.
        agent: String,
        /// The holder whose share of the app's sessions the agent counts towards. Only the agent's first
        /// message has it.
        #[serde(rename = "holder", default, skip_serializing_if = "Option::is_none")]
        quota_key: Option<Arc<str>>,
    },
    /// This agent of mine has gone.
    AgentGone {
        /// The app that the agent was on.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// A message from an app of mine to an agent of yours. The text is an envelope.
    ToAgent {
        /// The app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// My app does not serve your agent any more.
    AgentLost {
        /// The app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// An app has registered with me again and replaces its session of yours.
    Replaced(Replaced),
    /// A question to you.
    Ask {
        /// The id for the answer.
        id: u64,
        /// The question.
        question: Question,
    },
    /// The answer to your question.
    Answer {
        /// The id of the question.
        id: u64,
        /// The answer.
        answer: Answer,
    },
    /// A notice to all workers.
    Tell(Notice),
    /// I take no new calls, because I am about to leave.
    Draining,
    /// I am about to leave: cancel your calls on apps of mine.
    Stopping,
    /// I leave: treat everything of mine as gone.
    Bye,
}

/// An app has registered again, and claims that its session had that token.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Replaced {
    /// The token.
    pub token: String,
    /// The app's id.
    pub app: Arc<str>,
    /// The identity that has registered the app.
    pub by: Identity,
}

/// A notice to all workers. Ids are in the form of their dialects. The worker that obeys a notice checks the
/// ids.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum Notice {
    /// Somebody cancels a run that no worker knows yet.
    CancelEarly(EarlyCancel),
    /// That cancel has found its run.
    EarlyTaken(EarlyCancel),
    /// The sessions that listen must hear of a cancel.
    Cancelled(CancelNotice),
    /// A RAP runtime cancels a tool call.
    CancelToolCall {
        /// The thread of the call.
        thread_id: String,
        /// The tool call.
        tool_call_id: String,
        /// The app whose tools the runtime addresses, if it names an app.
        app: Option<String>,
        /// The requester.
        by: Identity,
    },
    /// A RAP runtime closes a thread.
    CloseThread {
        /// The thread.
        thread_id: String,
        /// The app whose tools the runtime addresses, if it names an app.
        app: Option<String>,
        /// The requester.
        by: Identity,
    },
    /// An MCP client cancels a request that is not in flight on the worker that received the cancel.
    CancelRequest {
        /// The session's number.
        session: Uuid,
        /// The request's id in the client's form: a number or a string.
        request_id: Value,
        /// The reason.
        reason: Option<String>,
    },
    /// An MCP client answers a question, and its call is not on the worker that received the answer.
    AnswerQuestion {
        /// The session's number.
        session: Uuid,
        /// The run of the call.
        run: RunId,
        /// The question's number.
        question: u64,
        /// The payload of the `elicitation/response`.
        payload: String,
    },
    /// An MCP client ends its session.
    EndSession {
        /// The session's number.
        session: Uuid,
    },
}

/// A question to another worker about its runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Question {
    /// Which runs an id may mean. The answer is [`Answer::Found`].
    Find {
        /// A run's own id, or a dialect's id.
        request_id: String,
        /// The requester.
        viewer: Identity,
    },
    /// One run that was found. The answer is [`Answer::Runs`].
    Run {
        /// The run.
        run: RunId,
        /// The requester.
        viewer: Identity,
    },
    /// All runs in flight, and the newest runs that have ended. The answer is [`Answer::Runs`].
    List {
        /// The requester.
        viewer: Identity,
        /// How many runs that have ended.
        ended: usize,
    },
    /// Cancel a run. The answer is [`Answer::Cancelled`].
    Cancel {
        /// The run.
        run: RunId,
        /// The reason.
        reason: Option<String>,
        /// The requester.
        by: Identity,
    },
}

/// An answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Answer {
    /// Runs.
    Runs {
        /// The requested runs.
        runs: Vec<Arc<Run>>,
        /// How many runs were left out.
        omitted: usize,
    },
    /// The runs that an id may mean, with only the fields that decide between them.
    Found(Vec<RunMark>),
    /// The result of a cancel, with its `ABPError`.
    Cancelled(CancelOutcome),
}

/// A message and the text that goes with it. Most messages have an empty text.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The message.
    pub message: Message,
    /// The text, which is not parsed on the way.
    pub text: Bytes,
}

impl From<Message> for Parcel {
    fn from(message: Message) -> Self {
        let text = Bytes::new();
        Parcel { message, text }
    }
}

impl Parcel {
    /// The parcel as bytes: the lengths of message and text as 32-bit numbers, the message as JSON, and the
    /// text. `None` if the message or the text has more than 4 GiB.
    pub fn pack(&self) -> Option<Bytes> {
        let head = serde_json::to_vec(&self.message).ok()?;
        let mut bytes = BytesMut::with_capacity(8 + head.len() + self.text.len());
        bytes.put_u32(u32::try_from(head.len()).ok()?);
        bytes.put_u32(u32::try_from(self.text.len()).ok()?);
        bytes.put_slice(&head);
        bytes.put_slice(&self.text);
        Some(bytes.freeze())
    }

    /// The parcels that were packed one after the other. An unreadable parcel, such as a message of a later
    /// version, is an error, and the parcels after it still follow. Only truncated bytes end the iterator.
    pub fn unpack(mut bytes: Bytes) -> impl Iterator<Item = Result<Parcel, String>> {
        std::iter::from_fn(move || match bytes.is_empty() {
            true => None,
            false => Some(unpack_one(&mut bytes)),
        })
    }
}

fn unpack_one(bytes: &mut Bytes) -> Result<Parcel, String> {
    let Some((head, text)) = cut(bytes) else {
        bytes.clear();
        return Err("the frame breaks off".into());
    };
    match serde_json::from_slice(&head) {
        Ok(message) => Ok(Parcel { message, text }),
        Err(error) => {
            let start = String::from_utf8_lossy(&head[..head.len().min(SHOWN_BYTES)]);
            let error = error.to_string();
            Err(format!("{start}: {}", clipped(&error, SHOWN_BYTES)))
        }
    }
}

/// Cuts off the next message and its text.
fn cut(bytes: &mut Bytes) -> Option<(Bytes, Bytes)> {
    let (head, text) = (bytes.try_get_u32().ok()?, bytes.try_get_u32().ok()?);
    let whole = (head as usize).checked_add(text as usize)?;
    if bytes.len() < whole {
        return None;
    }
    Some((bytes.split_to(head as usize), bytes.split_to(text as usize)))
}
