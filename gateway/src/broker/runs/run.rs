//! One run: a call to an app, as operators see it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::kept;
use crate::broker::PeerId;
use crate::tokens::Identity;
use crate::wire::stopped_by;
use crate::wire::stops::{self, Grade};
use caphost::call::{Code, LateEnd, Millis, Stop, StoppedBy};

/// Names a run: a UUID of the gateway's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Uuid);

impl RunId {
    /// A new one, at random.
    pub fn random() -> Self {
        RunId(Uuid::new_v4())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(RunId)
    }
}

impl TryFrom<String> for RunId {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}

/// The protocol a call came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum Dialect {
    /// The Agentic Browser Protocol, on `/abp`.
    Abp,
    /// The Reactive Agent Protocol.
    Rap,
    /// The Model Context Protocol.
    Mcp,
    /// JSON-RPC, on `/jsonrpc`.
    JsonRpc,
}

impl Dialect {
    /// Its place in [`Dialect::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// All there are.
    pub const ALL: [Dialect; 4] = [Dialect::Abp, Dialect::Rap, Dialect::Mcp, Dialect::JsonRpc];

    /// Its name in lists, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Abp => "abp",
            Dialect::Rap => "rap",
            Dialect::Mcp => "mcp",
            Dialect::JsonRpc => "jsonrpc",
        }
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum RunState {
    /// Not sent to the app yet.
    Queued,
    /// The app has it.
    Running,
    /// The app has it, and has been asked to cancel it.
    Cancelling,
    /// It succeeded.
    Completed,
    /// It failed, or was refused.
    Failed,
    /// The app has confirmed that it is cancelled, or it was never sent.
    Cancelled,
    /// The app, or the agent, went away before the app said how it ended.
    Unknown,
}

impl RunState {
    /// Those a run can end in.
    pub const ENDS: [RunState; 4] = [
        RunState::Completed,
        RunState::Failed,
        RunState::Cancelled,
        RunState::Unknown,
    ];

    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        !matches!(
            self,
            RunState::Queued | RunState::Running | RunState::Cancelling
        )
    }

    /// Its name in lists, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Queued => "queued",
            RunState::Running => "running",
            RunState::Cancelling => "cancelling",
            RunState::Completed => "completed",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
            RunState::Unknown => "unknown",
        }
    }
}

/// Who went away before it was known how a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// The agent whose call it was.
    Agent,
    /// The app that had it.
    App,
    /// The gateway, or its worker that the agent was on.
    Gateway,
}

impl Lost {
    /// Its name in lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Lost::Agent => "agent",
            Lost::App => "app",
            Lost::Gateway => "gateway",
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The app's response is a success.
    Completed,
    /// With that error code.
    Failed(String),
    /// The app's response, or its confirmation, says so, or it was never sent; and how far its stop
    /// was seen, and what has stopped it, if the app says.
    Cancelled(Stop, Option<StoppedBy>),
    /// Nobody knows: the error code tells why.
    Unknown(String),
    /// Nobody knows, as somebody went away.
    Lost(Lost),
}

/// One run. Times are Unix milliseconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// Its own id.
    pub id: RunId,
    /// The protocol its call came in.
    pub dialect: Dialect,
    /// The id the dialect gives it, as plain text: of JSON-RPC `1` and `"1"` are both `1`.
    pub dialect_id: Option<Arc<str>>,
    /// Whose call it is.
    pub owner: Identity,
    /// What its agent calls itself, in the `agent` of its `initialize`. Runs of one agent share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The conversation it belongs to, where the dialect has such a thing.
    pub thread: Option<String>,
    /// The app's id, once that is known.
    pub app: Option<Arc<str>>,
    /// What is called.
    pub capability: Arc<str>,
    /// The callId on the app's side, all of it: no longer one is let in.
    pub call_id: Arc<str>,
    /// Where it stands.
    pub state: RunState,
    /// When its call came.
    pub registered_at: u64,
    /// When it was over.
    pub ended_at: Option<u64>,
    /// When a cancel was first asked for.
    pub cancel_requested_at: Option<u64>,
    /// When it was known to be cancelled.
    pub cancelled_at: Option<u64>,
    /// The reason the first cancel gave.
    pub cancel_reason: Option<String>,
    /// The last `ProgressInfo`.
    pub progress: Option<Box<RawValue>>,
    /// The code of the error it ended with.
    pub error: Option<String>,
    /// Who went away, if its outcome is not known for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// How far its stop was seen: see [`Run::stop`].
    #[serde(
        default,
        rename = "stop",
        with = "stops::word",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) seen: Option<Stop>,
    /// What has stopped it, if the app has said.
    #[serde(
        default,
        with = "stopped_by::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub by: Option<StoppedBy>,
    /// How its handler ended after it was answered as abandoned.
    #[serde(
        default,
        rename = "ended",
        with = "stops::late",
        skip_serializing_if = "Option::is_none"
    )]
    pub late_end: Option<LateEnd>,
    /// Whether its worker is gone, and another remembers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// The process it was made in, of a run that is adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) home: Option<Uuid>,
    /// Greater than that of every run entered before.
    #[serde(skip)]
    pub(super) sequence: u64,
    /// Where its call is, until the app has answered or cannot any more.
    #[serde(skip)]
    pub(in crate::broker) place: Option<Place>,
}

/// Where a call is: with the app of its agent.
#[derive(Clone, Debug)]
pub(in crate::broker) struct Place {
    /// Whose call it is.
    pub agent: PeerId,
    /// The number it was passed on with.
    pub issued: u64,
    /// What its progress goes by, if not by its callId.
    pub token: Option<Arc<str>>,
    /// Its agent has asked for a cancel of it, which the app has not refused.
    pub is_cancelled: bool,
    /// Until when the app may answer a cancel that its agent did not ask for, if one is on its way.
    pub revoking: Option<Millis>,
    /// When its app should have answered it, as that has confirmed a cancel of it.
    pub until: Option<Millis>,
}

impl Place {
    /// A call that is passed on now, and that nobody has had cancelled yet.
    pub fn new(agent: PeerId, issued: u64, token: Option<Arc<str>>) -> Self {
        Place {
            agent,
            issued,
            token,
            is_cancelled: false,
            revoking: None,
            until: None,
        }
    }
}

impl Run {
    /// `tool:<capability>`
    pub fn name(&self) -> String {
        format!("tool:{}", self.capability)
    }

    /// How far its stop was seen, if it is cancelled.
    pub fn stop(&self) -> Option<Stop> {
        let cancelled = self.state == RunState::Cancelled;
        cancelled.then(|| self.seen.unwrap_or(Stop::Abandoned))
    }

    /// How far its stop was seen, and what else is known of it.
    pub fn grade(&self) -> Option<Grade> {
        let (by, late_end) = (self.by, self.late_end);
        self.stop().map(|stop| Grade { stop, by, late_end })
    }

    /// Milliseconds from its call to its end.
    pub fn duration(&self) -> u64 {
        let ended_at = self.ended_at.unwrap_or(self.registered_at);
        ended_at.saturating_sub(self.registered_at)
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        size_of::<Run>()
            + self.agent.as_ref().map_or(0, |agent| agent.len())
            + text(&self.error)
            + self.short_bytes()
            + self.long_bytes()
    }

    /// Bytes of its own ids and names.
    pub(in crate::broker) fn short_bytes(&self) -> usize {
        self.dialect_id.as_ref().map_or(0, |id| id.len())
            + self.thread.as_ref().map_or(0, String::len)
            + self.capability.len()
            + self.call_id.len()
    }

    /// Bytes of what may be long in it.
    pub(super) fn long_bytes(&self) -> usize {
        self.cancel_reason.as_ref().map_or(0, String::len) + self.progress_bytes()
    }

    pub(super) fn progress_bytes(&self) -> usize {
        self.progress.as_ref().map_or(0, |it| it.get().len())
    }

    pub(super) fn finish(&mut self, ending: Ending, now: u64) {
        self.ended_at = Some(now);
        (self.state, self.error) = match ending {
            Ending::Completed => (RunState::Completed, None),
            Ending::Failed(code) => (RunState::Failed, Some(kept::code(code))),
            Ending::Unknown(code) => (RunState::Unknown, Some(kept::code(code))),
            Ending::Lost(lost) => {
                self.lost = Some(lost);
                let code = Code::DISCONNECTED.as_str().to_string();
                (RunState::Unknown, Some(code))
            }
            Ending::Cancelled(stop, by) => {
                self.cancelled_at = Some(now);
                (self.seen, self.by) = (Some(stop), by);
                (RunState::Cancelled, None)
            }
        };
    }
}

/// A run about to be registered.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// See [`Run::id`].
    pub id: RunId,
    /// See [`Run::dialect`].
    pub dialect: Dialect,
    /// See [`Run::dialect_id`].
    pub dialect_id: Option<Arc<str>>,
    /// See [`Run::owner`].
    pub owner: Identity,
    /// See [`Run::agent`].
    pub agent: Option<Arc<str>>,
    /// See [`Run::thread`].
    pub thread: Option<String>,
    /// See [`Run::app`].
    pub app: Option<Arc<str>>,
    /// See [`Run::capability`].
    pub capability: Arc<str>,
    /// See [`Run::call_id`].
    pub call_id: Arc<str>,
}
