//! This worker as a member of its cluster: it greets those that come, takes what they say, and gives up
//! those that are gone.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::Cluster;
use super::cancel_message::CancelMessage;
use super::link::Frame;
use super::message::{Answer, Message, Parcel, Question, VERSION};
use super::worker::WorkerId;
use crate::broker::runs::{Run, RunId};
use crate::wire::for_log;

/// How long an answer waits for room on its way.
const ANSWER: Duration = Duration::from_secs(1);

/// This worker, as its cluster sees it: what is told of the others, and asked on their behalf. All
/// of it is called by one task, in order, and must not wait.
pub trait Here: Send + Sync {
    /// The others can be reached from now on, or no longer.
    fn reaches_others(&self, reached: bool);

    /// A worker has come. It is greeted after what it is told here.
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
    fn adopt(&self, gone: WorkerId, runs: Vec<Arc<Run>>) -> Vec<RunId>;
}

/// A cluster, and whom it tells of the others.
#[derive(Clone)]
pub(super) struct Member {
    pub cluster: Arc<Cluster>,
    pub here: Arc<dyn Here>,
}

impl Deref for Member {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Member {
    /// Makes itself known to a new worker.
    pub fn greet(&self, worker: WorkerId) {
        let greeting = Message::Hello {
            name: self.options.name(),
            version: VERSION,
        };
        self.tell_lasting(worker);
        // First of the apps here: who has greeted is known with them.
        self.here.came(worker);
        self.send(worker, &greeting.into());
    }

    /// A worker has left, or has died.
    pub fn forget(&self, worker: WorkerId) {
        let peer = {
            let mut peers = self.peers();
            peers.orphans.insert(worker, true);
            // Nobody waits for an answer of its any longer.
            peers.asked.retain(|_, (asked, _)| *asked != worker);
            peers.bury(worker)
        };
        self.orphaned.notify_one();
        if let Some(peer) = peer {
            tracing::info!(%worker, name = peer.name, "another worker is gone");
            peer.room.notify_waiters();
            self.here.gone(worker);
        }
    }

    /// All others are given up, and this worker joins anew.
    pub fn forget_all(&self) {
        let peers = self.peers().reset();
        self.id_changed.notify_one();
        for (worker, peer) in &peers {
            peer.room.notify_waiters();
            self.here.gone(*worker);
        }
    }

    /// Waits until this worker has another id than that.
    pub async fn until_reborn(&self, me: WorkerId) {
        while self.me() == me {
            self.cluster.id_changed.notified().await;
        }
    }

    /// Takes a frame that has come from another worker.
    pub fn receive(&self, from: WorkerId, frame: Frame) {
        self.traffic.frames_received.add();
        let now = self.now();
        let (new, body) = self.peers().take(from, frame, now);
        if new {
            self.greet(from);
        }
        let Some(body) = body else { return };
        for parcel in Parcel::unpack(body) {
            let error = match parcel {
                // The frame is acknowledged: one message must not take the others with it.
                Ok(Parcel { message, text }) => {
                    let is_last = matches!(message, Message::Bye);
                    let act = AssertUnwindSafe(|| self.act(from, message, text));
                    match catch_unwind(act) {
                        // Nothing would ever end what comes of a worker that is gone.
                        Ok(()) if is_last => return,
                        Ok(()) => continue,
                        Err(_) => "it made this worker panic".into(),
                    }
                }
                Err(error) => error,
            };
            self.traffic.messages_unread.add();
            let error = for_log(error);
            tracing::error!(worker = %from, error, "a message of another worker is passed over");
        }
    }

    fn act(&self, from: WorkerId, message: Message, text: Bytes) {
        match message {
            Message::Hello { name, version } => {
                tracing::info!(worker = %from, name = for_log(&name), version, "another worker");
                if let Some(peer) = self.peers().others.get_mut(&from) {
                    peer.name = name;
                }
            }
            Message::Ask { id, question } => {
                let (cluster, answer) = (self.cluster.clone(), self.here.answer(question));
                tokio::spawn(async move {
                    let answer = answer.await;
                    // Later nobody waits for it any more.
                    let answer = Message::Answer { id, answer }.into();
                    cluster.send_within(from, &answer, ANSWER).await;
                });
            }
            Message::Answer { id, answer } => {
                let asked = self.peers().asked.remove(&id);
                if let Some((_, waiting)) = asked.filter(|(worker, _)| *worker == from) {
                    let _ = waiting.send(answer);
                }
            }
            Message::Bye => self.forget(from),
            message => self.here.received(from, message, text),
        }
    }
}
