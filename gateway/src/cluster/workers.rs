//! What the layers above know of the other workers, and what they are told of them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::channel::CancelMessage;
use super::facts::Facts;
use super::message::{Message, Parcel};
use super::notice::Notice;
use super::question::{Answer, Question};
use super::traffic::Traffic;
use crate::broker::runs::{News, Run, RunId};
use crate::tokens::Identity;

/// Names a worker while it takes part: one that joins anew has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId(Uuid);

impl WorkerId {
    /// A new one, at random.
    pub fn random() -> Self {
        WorkerId(Uuid::new_v4())
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

impl FromStr for WorkerId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(WorkerId)
    }
}

impl TryFrom<String> for WorkerId {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WorkerId> for String {
    fn from(id: WorkerId) -> Self {
        id.to_string()
    }
}

/// How a worker stands with its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether the way to the others works.
    pub connected: bool,
    /// The other workers known.
    pub others: usize,
}

/// What is known of a worker that something is kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is this one.
    Here,
    /// It takes part.
    There,
    /// It has left, or has died.
    Over,
    /// Not all may have introduced themselves yet.
    Unsure,
}

/// The other workers of a cluster.
pub trait Workers: Facts + Send + Sync {
    /// What this worker is called just now. One that was taken for dead joins under a new id.
    fn me(&self) -> WorkerId;

    /// What this worker is called for as long as its process lives.
    fn home(&self) -> &str;

    /// How this worker stands with the others.
    fn standing(&self) -> Standing;

    /// What went to and from the others.
    fn traffic(&self) -> &Traffic;

    /// The others, as far as they can be reached now.
    fn others(&self) -> Vec<WorkerId>;

    /// How many workers are gone whose runs nobody has taken over yet.
    fn orphans(&self) -> usize;

    /// The worker with that home, if it has introduced itself.
    fn at_home(&self, home: &str) -> Option<WorkerId>;

    /// What is known of the worker with that home, which was called so when that was written.
    fn life_of(&self, home: &str, worker: WorkerId) -> Life;

    /// Whether a worker understands what came with that version of the messages.
    fn knows(&self, worker: WorkerId, version: u32) -> bool;

    /// Sends to one worker, unless it is gone.
    fn send(&self, worker: WorkerId, parcel: &Parcel);

    /// Sends to those of the others whose versions of the messages `is_meant` picks; that of a worker
    /// which has not greeted is 0.
    fn send_to_those(&self, is_meant: &dyn Fn(u32) -> bool, parcel: &Parcel);

    /// Sends to all others.
    fn send_all(&self, parcel: &Parcel) {
        self.send_to_those(&|_| true, parcel);
    }

    /// Sends as soon as there is room on the way to a worker, unless it is gone.
    fn send_in_turn<'a>(&'a self, worker: WorkerId, parcel: &'a Parcel) -> BoxFuture<'a, ()>;

    /// Whether there is room on the way to a worker, or it is gone.
    fn has_room(&self, worker: WorkerId) -> bool;

    /// Waits for room on the way to a worker.
    fn room(&self, worker: WorkerId) -> BoxFuture<'_, ()>;

    /// Asks one worker. Nothing if it has not answered within `patience`, or is gone.
    fn ask(
        &self,
        worker: WorkerId,
        question: Question,
        patience: Duration,
    ) -> BoxFuture<'_, Option<Answer>>;

    /// Tells all others.
    fn tell_all(&self, notice: Notice) {
        self.send_all(&Message::Tell(notice).into());
    }

    /// Tells gateways outside this cluster that `by` cancels. Waits for nothing.
    fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity);

    /// Something is happening to runs here, which the others are to know if this worker dies: called
    /// before anything of it leaves this worker.
    fn note(&self, news: &[News]);

    /// What was noted may be written down.
    fn write_down(&self);
}

/// This worker, as its cluster sees it: what is told of the others, and asked on their behalf. All
/// of it is called by one task, in order, and must not wait.
pub trait Here: Send + Sync {
    /// The others can be reached from now on, or no longer.
    fn reaches_others(&self, reached: bool);

    /// A worker has come. It has been greeted.
    fn came(&self, worker: WorkerId);

    /// A worker has left, or has died.
    fn gone(&self, worker: WorkerId);

    /// A worker says something, other than what the cluster itself takes care of.
    fn received(&self, from: WorkerId, message: Message, text: Bytes);

    /// A worker asks.
    fn answer(&self, question: Question) -> BoxFuture<'static, Answer>;

    /// Somebody outside the cluster cancels a run.
    fn cancel_heard(&self, message: CancelMessage);

    /// The runs here, which are written down for the others.
    fn run_ids(&self) -> Vec<RunId>;

    /// These runs, as far as they are remembered.
    fn runs_by_id(&self, ids: Vec<RunId>) -> Vec<(RunId, Option<Run>)>;

    /// Takes over runs of a worker that is gone: those that are remembered now.
    fn adopt(&self, runs: Vec<Run>) -> Vec<RunId>;
}
