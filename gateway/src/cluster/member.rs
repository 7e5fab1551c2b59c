//! This worker as a member of its cluster. It greets new workers, handles the messages of other workers, and
//! gives up workers that are gone.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::time::timeout;

use super::Cluster;
use super::cancel_message::CancelMessage;
use super::link::{Frame, Gap};
use super::message::{Answer, Message, Parcel, Question, VERSION};
use super::peers::Heard;
use super::worker::WorkerId;
use crate::wire::for_log;

/// How long an answer waits for room in the queue to the worker that asked.
const ANSWER: Duration = Duration::from_secs(1);

/// The layers above, which hear of the other workers and answer their questions. One task calls all these
/// functions, in order. They must not block.
pub trait Here: Send + Sync {
    /// The other workers can be reached from now on, or no longer.
    fn reaches_others(&self, reached: bool);

    /// A worker has come. The greeting follows the messages that this function sends.
    fn came(&self, worker: WorkerId);

    /// A worker has left or died.
    fn gone(&self, worker: WorkerId);

    /// A worker has sent a message that the cluster does not handle itself.
    fn received(&self, from: WorkerId, message: Message, text: Bytes);

    /// A worker asks a question.
    fn answer(&self, question: Question) -> BoxFuture<'static, Answer>;

    /// Somebody outside the cluster cancels a run.
    fn cancel_heard(&self, message: CancelMessage);
}

/// A cluster and the layers above that hear of the other workers.
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
    /// Greets a new worker.
    pub fn greet(&self, worker: WorkerId) {
        let greeting = Message::Hello {
            name: self.options.name(),
            version: VERSION,
        };
        // A process that has joined again has lost what it had with the others.
        let former = self.peers().former(worker);
        former.into_iter().for_each(|id| self.forget(id));
        // The apps here go first, so that a worker that has greeted is known with its apps.
        self.here.came(worker);
        self.send(worker, &greeting.into());
    }

    /// A worker has left or died.
    pub fn forget(&self, worker: WorkerId) {
        let peer = {
            let mut peers = self.peers();
            peers.lost.insert(worker.process);
            // Nobody waits for an answer of that worker any longer.
            peers.asked.retain(|_, (asked, _)| *asked != worker);
            peers.bury(worker)
        };
        if let Some(peer) = peer {
            tracing::info!(%worker, name = peer.name, "another worker is gone");
            peer.room.notify_waiters();
            self.here.gone(worker);
        }
    }

    /// Messages of another worker, or to it, are lost. What the two workers had between them ends on both.
    pub fn give_up(&self, worker: WorkerId) {
        self.traffic.workers_lost.add();
        self.forget(worker);
        self.tell_dead(worker);
    }

    /// Tells a worker that it counts as dead, so that it joins again.
    fn tell_dead(&self, worker: WorkerId) {
        self.peers().obituaries.insert(worker);
        self.outgoing.notify_one();
    }

    /// Gives up all other workers and joins again under a new id.
    pub fn forget_all(&self) {
        let peers = self.peers().reset();
        for (worker, peer) in &peers {
            peer.room.notify_waiters();
            self.here.gone(*worker);
        }
    }

    /// Handles a frame of another worker.
    pub fn receive(&self, from: WorkerId, frame: Frame) {
        self.traffic.frames_received.add();
        let now = self.now();
        let heard = self.peers().hears(from, now);
        match heard {
            Heard::Known => {}
            Heard::New => self.greet(from),
            Heard::Dead => return self.tell_dead(from),
        }
        let taken = self.peers().take(from, frame);
        let body = match taken {
            Ok(body) => body,
            Err(Gap) => {
                tracing::warn!(worker = %from, "messages of another worker are lost: it is given up");
                return self.give_up(from);
            }
        };
        for parcel in Parcel::unpack(body) {
            let error = match parcel {
                // The frame comes only once. So a panic in one message must not affect the other messages.
                Ok(Parcel { message, text }) => {
                    let is_last = matches!(message, Message::Bye);
                    let act = AssertUnwindSafe(|| self.act(from, message, text));
                    match catch_unwind(act) {
                        // The worker is gone now, so nothing would ever end what further messages would
                        // create.
                        Ok(()) if is_last => return,
                        Ok(()) => continue,
                        Err(_) => "it made this worker panic".into(),
                    }
                }
                Err(error) => error,
            };
            self.traffic.messages_unread.add();
            let error = for_log(error);
            tracing::error!(worker = %from, error, "a message of another worker is skipped");
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
                    // After this time the other worker does not wait for the answer any more.
                    let answer = Message::Answer { id, answer }.into();
                    let _ = timeout(ANSWER, cluster.send_in_turn(from, &answer)).await;
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
