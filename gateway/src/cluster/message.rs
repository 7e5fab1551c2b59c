//! What workers say to each other.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::broker::runs::{CancelNotice, EarlyCancel, Run, RunId, RunMark};
use crate::broker::{CancelOutcome, CapabilityInfo, Instance, Offer};
use crate::tokens::Identity;
use crate::wire::clipped;

/// Bytes of a message that cannot be read which are shown in the log.
const SHOWN_BYTES: usize = 64;

/// Names an app by its connection to the worker that holds it.
pub type AppKey = u64;

/// Names a connection on the worker the app has come back to. That worker chooses the number.
pub type TunnelId = u64;

/// The version of what workers say to each other, for the logs of the others. A later one may add messages,
/// which earlier ones pass over, and fields that may be missing. Any other change needs another prefix in
/// Redis: another cluster.
pub const VERSION: u32 = 1;

/// One message.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Message {
    /// A greeting: what the worker is called by people.
    Hello {
        /// Its name, for logs.
        name: String,
        /// The version it speaks: its [`VERSION`].
        version: u32,
    },
    /// I hold an app, or it offers something else now.
    App {
        /// Which one.
        app: AppKey,
        /// What it offers.
        offer: Arc<Offer>,
        /// Which of its instances it is.
        instance: Instance,
    },
    /// That app's offer has changed: this much of it is different.
    AppChanged {
        /// Which one.
        app: AppKey,
        /// What is new, or not as it was.
        added: Vec<CapabilityInfo>,
        /// What is there no longer, or not as it was.
        removed: Vec<String>,
    },
    /// Tell me all of that app of yours: I do not know what has changed in it.
    TellApp {
        /// Which one.
        app: AppKey,
    },
    /// That app has gone.
    AppGone {
        /// Which one.
        app: AppKey,
    },
    /// From an agent of mine to an app of yours. The text is an envelope.
    ToApp {
        /// Which app.
        app: AppKey,
        /// The agent's name on the app's wire.
        agent: String,
        /// Whose share of the app's sessions it counts towards, with its first message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Arc<str>>,
    },
    /// That agent has gone.
    AgentGone {
        /// Whose app it was on.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// From an app of mine to an agent of yours. The text is an envelope.
    ToAgent {
        /// Which app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// My app does not serve that agent any more.
    AgentLost {
        /// Which app.
        app: AppKey,
        /// The agent.
        agent: String,
    },
    /// An app whose session is yours has come back to me.
    TakeUp {
        /// Its connection.
        tunnel: TunnelId,
        /// The session's token.
        token: String,
        /// How many of its messages the app has received.
        received: u64,
        /// What the app wants to be answered under, as JSON.
        id: Option<String>,
        /// Who the app is.
        by: Identity,
    },
    /// It cannot go on: the text tells the app.
    NotTakenUp {
        /// The connection.
        tunnel: TunnelId,
    },
    /// The app says. The text is an envelope.
    FromConnection {
        /// The connection.
        tunnel: TunnelId,
    },
    /// The app has sent a binary frame, which is refused.
    BinaryFromConnection {
        /// The connection.
        tunnel: TunnelId,
        /// How many bytes it has.
        bytes: usize,
    },
    /// Say to the app. The text is an envelope.
    ToConnection {
        /// The connection.
        tunnel: TunnelId,
    },
    /// This many more of your messages to the app have been written to it.
    Written {
        /// The connection.
        tunnel: TunnelId,
        /// How many.
        messages: usize,
    },
    /// The app's connection is over.
    ConnectionOver {
        /// The connection.
        tunnel: TunnelId,
        /// It broke, and the app may come back once more.
        lost: bool,
    },
    /// Close the app's connection.
    CloseConnection {
        /// The connection.
        tunnel: TunnelId,
        /// A WebSocket close code.
        code: u16,
        /// Why, for people.
        reason: String,
    },
    /// An app has registered with me afresh, in place of its session of yours.
    Replaced(Replaced),
    /// Answer me.
    Ask {
        /// What to answer under.
        id: u64,
        /// What is asked.
        question: Question,
    },
    /// You have asked.
    Answer {
        /// What was asked under.
        id: u64,
        /// The answer.
        answer: Answer,
    },
    /// Everybody should know.
    Tell(Notice),
    /// I take no new calls: I am about to leave.
    Draining,
    /// I am about to leave: cancel what you have on apps of mine.
    Stopping,
    /// I leave: take what is mine for gone.
    Bye,
}

/// An app has registered afresh, and says that its session was the one with that token.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Replaced {
    /// The token.
    pub token: String,
    /// What the app is called by.
    pub app: Arc<str>,
    /// Who has registered it.
    pub by: Identity,
}

/// What everybody should know. Ids are as their dialects write them: the one that obeys checks them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum Notice {
    /// Somebody cancels a run that nobody knows yet.
    CancelEarly(EarlyCancel),
    /// That cancel has met its run.
    EarlyTaken(EarlyCancel),
    /// Sessions that listen are to hear of a cancel.
    Cancelled(CancelNotice),
    /// A RAP runtime cancels a tool call.
    CancelToolCall {
        /// Its thread.
        thread_id: String,
        /// The call.
        tool_call_id: String,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
    /// A RAP runtime closes a thread.
    CloseThread {
        /// Which one.
        thread_id: String,
        /// The app whose tools are addressed, if one is.
        app: Option<String>,
        /// Who.
        by: Identity,
    },
    /// An MCP client cancels a request that is not in flight where the cancel came.
    CancelRequest {
        /// The session's id.
        session: String,
        /// The request, as the client calls it: a number or a string.
        request_id: Value,
        /// Why.
        reason: Option<String>,
    },
    /// An MCP client ends its session.
    EndSession {
        /// The session's id.
        session: String,
    },
}

/// What is asked of another worker about its runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Question {
    /// Those an id may mean: [`Answer::Found`].
    Find {
        /// A run's own id, or a dialect's.
        request_id: String,
        /// Who asks.
        viewer: Identity,
    },
    /// One that was found: [`Answer::Runs`].
    Run {
        /// Which one.
        run: RunId,
        /// Who asks.
        viewer: Identity,
    },
    /// All in flight and the newest that have ended: [`Answer::Runs`].
    List {
        /// Who asks.
        viewer: Identity,
        /// How many of those that have ended.
        ended: usize,
    },
    /// Cancel one, and say what came of it: [`Answer::Cancelled`].
    Cancel {
        /// Which one.
        run: RunId,
        /// Why.
        reason: Option<String>,
        /// Who asks.
        by: Identity,
    },
}

/// What is answered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Answer {
    /// Runs.
    Runs {
        /// Those that were asked for.
        runs: Vec<Arc<Run>>,
        /// How many were left out.
        omitted: usize,
    },
    /// Runs that an id may mean: no more of them than tells which it is.
    Found(Vec<RunMark>),
    /// What came of a cancel, and the `ABPError` with it.
    Cancelled(CancelOutcome<Value>),
}

/// A message and the text that goes with it, empty for most.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The message.
    pub message: Message,
    /// Text that is not parsed on the way.
    pub text: Bytes,
}

impl From<Message> for Parcel {
    fn from(message: Message) -> Self {
        let text = Bytes::new();
        Parcel { message, text }
    }
}

impl Parcel {
    /// The parcel as bytes: the lengths of message and text as 32-bit numbers, the message as JSON,
    /// the text. Nothing for what has more than 4 GiB.
    pub fn pack(&self) -> Option<Bytes> {
        let head = serde_json::to_vec(&self.message).ok()?;
        let mut bytes = BytesMut::with_capacity(8 + head.len() + self.text.len());
        bytes.put_u32(u32::try_from(head.len()).ok()?);
        bytes.put_u32(u32::try_from(self.text.len()).ok()?);
        bytes.put_slice(&head);
        bytes.put_slice(&self.text);
        Some(bytes.freeze())
    }

    /// The parcels packed one after the other. One that cannot be read, such as a message of a later
    /// version, is an error, and those after it follow; only bytes that break off end it.
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
