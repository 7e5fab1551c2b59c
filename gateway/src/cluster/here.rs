//! What a cluster asks of its worker, and tells it of the others.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::cancel_message::CancelMessage;
use super::message::{Answer, Message, Question};
use super::workers::WorkerId;
use crate::broker::runs::{Run, RunId};

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
    fn runs_by_id(&self, ids: Vec<RunId>) -> Vec<(RunId, Option<Arc<Run>>)>;

    /// Takes over runs of a worker that is gone: those that are remembered now.
    fn adopt(&self, runs: Vec<Arc<Run>>) -> Vec<RunId>;
}
