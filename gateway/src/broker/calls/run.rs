//! One run: a call to an app, as operators see it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::kept;
use crate::tokens::Identity;
use crate::wire::stopped_by;
use crate::wire::stops::{self, Grade};
use caphost::call::{Code, LateEnd, Stop, StoppedBy};

/// The id of a run: a UUID of version 8 that names the worker of the run, so that nobody has to search for
/// the run. The first six bytes are those of the worker's process, and the next two tell ids of runs from
/// other UUIDs. The rest is random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Uuid);

/// How many bytes of a run's id name its worker.
const WORKER_BYTES: usize = 6;
/// The version of the UUID and the bits that tell ids of runs from other UUIDs.
const MARK: [u8; 2] = [0x8c, 0xa9];

impl RunId {
    /// A new id for a run of the worker with that process.
    pub fn of(process: Uuid) -> Self {
        let mut bytes = Uuid::new_v4().into_bytes();
        bytes[..WORKER_BYTES].copy_from_slice(&process.as_bytes()[..WORKER_BYTES]);
        bytes[WORKER_BYTES..WORKER_BYTES + 2].copy_from_slice(&MARK);
        RunId(Uuid::from_bytes(bytes))
    }

    /// A new id for a run of an unknown worker.
    pub fn random() -> Self {
        RunId::of(Uuid::new_v4())
    }

    /// The same id for a run of the worker with that process.
    pub fn at(self, process: Uuid) -> Self {
        let mut bytes = self.0.into_bytes();
        bytes[..WORKER_BYTES].copy_from_slice(&process.as_bytes()[..WORKER_BYTES]);
        RunId(Uuid::from_bytes(bytes))
    }

    /// Whether the id names a worker. Any other UUID belongs to no run.
    pub fn names_a_worker(self) -> bool {
        self.0.as_bytes()[WORKER_BYTES..].starts_with(&MARK)
    }

    /// Whether the id names the worker with that process.
    pub fn is_of(self, process: Uuid) -> bool {
        self.names_a_worker()
            && self.0.as_bytes()[..WORKER_BYTES] == process.as_bytes()[..WORKER_BYTES]
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

    /// All dialects.
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

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum RunState {
    /// Not yet sent to the app.
    Queued,
    /// Sent to the app.
    Running,
    /// Sent to the app, which has been asked to cancel it.
    Cancelling,
    /// The call has succeeded.
    Completed,
    /// The call has failed, or was refused.
    Failed,
    /// The app has confirmed the cancel, or the call was never sent.
    Cancelled,
    /// The app has not said how the call ended: it did not answer in time, or somebody was lost.
    Unknown,
}

impl RunState {
    /// The states in which a run can end.
    pub const ENDS: [RunState; 4] = [
        RunState::Completed,
        RunState::Failed,
        RunState::Cancelled,
        RunState::Unknown,
    ];

    /// Whether the run has ended.
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

/// Who was lost before the end of a run was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// The agent that made the call.
    Agent,
    /// The app that was working on the call.
    App,
    /// The gateway, or the worker of the agent.
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
    /// The call has failed with that error code.
    Failed(String),
    /// The app's response or confirmation says so, or the call was never sent. How far the stop was seen, and
    /// what has stopped the handler, if the app says.
    Cancelled(Stop, Option<StoppedBy>),
    /// Nobody knows. The error code tells why.
    Unknown(String),
    /// Nobody knows, because somebody was lost.
    Lost(Lost),
}

impl Ending {
    /// How a call ends that is answered with an error of that code.
    pub(in crate::broker) fn of_error(code: &str) -> Self {
        match Code::leaves_open(code) {
            true => Ending::Unknown(code.into()),
            false => Ending::Failed(code.into()),
        }
    }

    /// Whether this says how the call ended.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Ending::Unknown(_) | Ending::Lost(_))
    }
}

/// One run. Times are Unix milliseconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// Its own id.
    pub id: RunId,
    /// The protocol of the call.
    pub dialect: Dialect,
    /// The id of the call in its dialect, as plain text: the ids `1` and `"1"` of JSON-RPC are both `1`.
    pub dialect_id: Option<Arc<str>>,
    /// The owner of the call.
    pub owner: Identity,
    /// The agent's name, from the `agent` of its `initialize`. Runs of one agent share the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The conversation of the call, if the dialect has conversations.
    pub thread: Option<String>,
    /// The id of the app, once known.
    pub app: Option<Arc<str>>,
    /// The called capability.
    pub capability: Arc<str>,
    /// The whole callId that the app knows. A longer callId is refused.
    pub call_id: Arc<str>,
    /// The state of the run.
    pub state: RunState,
    /// When the call came.
    pub registered_at: u64,
    /// When the run ended.
    pub ended_at: Option<u64>,
    /// When the first cancel came.
    pub cancel_requested_at: Option<u64>,
    /// When the cancel was confirmed.
    pub cancelled_at: Option<u64>,
    /// The reason of the first cancel.
    pub cancel_reason: Option<String>,
    /// The last `ProgressInfo`.
    pub progress: Option<Box<RawValue>>,
    /// The code of the error, if the run has failed.
    pub error: Option<String>,
    /// Who was lost, if the outcome is unknown for that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// How far the stop was seen: see [`Run::stop`].
    #[serde(
        default,
        rename = "stop",
        with = "stops::word",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) seen: Option<Stop>,
    /// What has stopped the handler, if the app has said so.
    #[serde(
        default,
        with = "stopped_by::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub by: Option<StoppedBy>,
    /// How the handler ended after the call was answered as abandoned.
    #[serde(
        default,
        rename = "ended",
        with = "stops::late",
        skip_serializing_if = "Option::is_none"
    )]
    pub late_end: Option<LateEnd>,
    /// The number of the entry. Later entries have greater numbers.
    #[serde(skip)]
    pub(super) sequence: u64,
}

impl Run {
    /// A run of a call that is not sent yet.
    pub(super) fn new(new: NewRun, sequence: u64, now: u64) -> Self {
        Run {
            id: new.id,
            dialect: new.dialect,
            dialect_id: new.dialect_id.and_then(kept::id),
            owner: new.owner,
            agent: new.agent.map(kept::name),
            thread: new.thread,
            app: new.app,
            capability: kept::name(new.capability),
            call_id: kept::name(new.call_id),
            state: RunState::Queued,
            registered_at: now,
            ended_at: None,
            cancel_requested_at: None,
            cancelled_at: None,
            cancel_reason: None,
            progress: None,
            error: None,
            lost: None,
            seen: None,
            by: None,
            late_end: None,
            sequence,
        }
    }

    /// Whether the run was cancelled as abandoned, and its handler may still end.
    pub fn may_end(&self) -> bool {
        self.stop() == Some(Stop::Abandoned) && self.late_end.is_none()
    }

    /// `tool:<capability>`
    pub fn name(&self) -> String {
        format!("tool:{}", self.capability)
    }

    /// How far the stop was seen, if the run is cancelled.
    pub fn stop(&self) -> Option<Stop> {
        let cancelled = self.state == RunState::Cancelled;
        cancelled.then(|| self.seen.unwrap_or(Stop::Abandoned))
    }

    /// How far the stop was seen, and what else is known about the stop.
    pub fn grade(&self) -> Option<Grade> {
        let (by, late_end) = (self.by, self.late_end);
        self.stop().map(|stop| Grade { stop, by, late_end })
    }

    /// Milliseconds from the call to its end.
    pub fn duration(&self) -> u64 {
        let ended_at = self.ended_at.unwrap_or(self.registered_at);
        ended_at.saturating_sub(self.registered_at)
    }

    /// The size of the run in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        size_of::<Run>()
            + self.agent.as_ref().map_or(0, |agent| agent.len())
            + text(&self.error)
            + self.short_bytes()
            + self.long_bytes()
    }

    /// The bytes of ids and names in the run.
    pub(in crate::broker) fn short_bytes(&self) -> usize {
        self.dialect_id.as_ref().map_or(0, |id| id.len())
            + self.thread.as_ref().map_or(0, String::len)
            + self.capability.len()
            + self.call_id.len()
    }

    /// The bytes of texts that may be long.
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

    /// The outcome of the run was unknown, and is known now. The run ended when its caller was answered.
    pub(super) fn settle(&mut self, ending: Ending, now: u64) {
        let ended_at = self.ended_at;
        self.finish(ending, now);
        (self.ended_at, self.lost) = (ended_at, None);
    }
}

/// A run to register.
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
