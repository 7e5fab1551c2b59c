//! Several workers on Redis, and the messages between them.
//!
//! The layers above use [`Cluster`], which is a worker's part in its cluster. They implement [`Here`], which
//! hears of the other workers. Each pair of workers has a link over streams in Redis. See `docs/cluster.md`.
//!
//! | module | contents |
//! |---|---|
//! | [`options`] | the options of a worker |
//! | [`worker`] | the ids of workers |
//! | [`traffic`] | a worker's standing in its cluster, and its metrics |
//! | [`message`] | the messages between workers |
//! | [`link`] | messages between two workers, each at most once and in order |
//! | [`sending`] | sending to other workers |
//! | [`peers`] | the other workers, and the queues to them |
//! | [`member`] | greeting and giving up other workers, handling their messages, and telling the layers above |
//! | [`channel`], [`cancel_message`] | cancels that are published to other gateways, and cancels of other gateways |
//! | [`redis`](self::redis) | reading from Redis and writing to it |

mod cancel_message;
mod channel;
mod link;
mod member;
pub mod message;
mod options;
mod peers;
mod redis;
mod sending;
mod traffic;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use self::redis::connection;
pub use self::redis::facts::Away;
use self::redis::held::Held;
use self::redis::node::Node;
use crate::bounds::Pace;
use crate::seldom::Seldom;
use crate::session_key::SessionKey;
pub use cancel_message::CancelMessage;
use channel::HEARD_PER_SECOND;
pub use member::Here;
use member::Member;
pub use message::{Answer, Notice, Question};
use message::{Message, Parcel};
pub use options::ClusterOptions;
use peers::Peers;
pub use traffic::{METRICS, Standing, Traffic};
pub use worker::{Life, WorkerId};

/// How long a worker that leaves takes to tell the others.
const GOODBYE: Duration = Duration::from_millis(500);
/// How often to look whether the other workers have greeted.
const LOOK: Duration = Duration::from_millis(50);
/// How often a worker that leaves looks whether its messages are written.
const LOOK_WHEN_LEAVING: Duration = Duration::from_millis(5);

/// The worker's properties that its cluster needs.
#[derive(Clone, Debug)]
pub struct WorkerProfile {
    /// The id of the worker's process. The session tokens of its apps begin with it.
    pub process: Uuid,
    /// How long ended runs are remembered, and so how long a worker that is gone may have had a run.
    pub retention: Duration,
    /// Whether the worker listens to the channel of cancels and publishes on it.
    pub channel: bool,
}

/// A worker's part in its cluster.
pub struct Cluster {
    node: Node,
    options: ClusterOptions,
    profile: WorkerProfile,
    peers: Mutex<Peers>,
    /// Signals that there may be something to send.
    outgoing: Notify,
    /// Limits how many messages of the channel are read.
    channel_pace: Pace,
    /// Limits the warnings about messages of the channel.
    warned: Seldom,
    leaving: AtomicBool,
    traffic: Traffic,
    connected: AtomicBool,
    /// The connection for commands, if there is one.
    commands: Mutex<Option<MultiplexedConnection>>,
    held: Held,
    /// The key of sessions that all workers share, once Redis is reached.
    session_key: Mutex<Option<SessionKey>>,
    started: Instant,
}

impl Cluster {
    /// A worker that will join a cluster. Returns an error if the URL of Redis is invalid. Nothing happens
    /// before [`Cluster::run`].
    pub fn new(
        url: &str,
        options: ClusterOptions,
        profile: WorkerProfile,
    ) -> Result<Arc<Self>, String> {
        let node = Node::new(url, &options.redis_prefix)?;
        let me = WorkerId::of(profile.process);
        Ok(Arc::new(Cluster {
            node,
            peers: Mutex::new(Peers::new(me, options.worker_lease)),
            options,
            profile,
            outgoing: Notify::new(),
            channel_pace: Pace::new(HEARD_PER_SECOND, HEARD_PER_SECOND),
            warned: Seldom::new(),
            leaving: AtomicBool::new(false),
            traffic: Traffic::default(),
            connected: AtomicBool::new(false),
            commands: Mutex::default(),
            held: Held::default(),
            session_key: Mutex::default(),
            started: Instant::now(),
        }))
    }

    /// Takes part in the cluster until the future is dropped. `here` hears of the other workers.
    pub async fn run(self: Arc<Self>, here: Arc<dyn Here>) {
        let member = Member {
            cluster: self,
            here,
        };
        match connection::run(&member).await {}
    }

    /// Waits, at most `patience`, until the other workers have greeted. A greeting includes a worker's apps,
    /// so a request for such an app finds the app from then on.
    pub async fn met(&self, patience: Duration) {
        let has_met = || self.connected.load(Ordering::Relaxed) && !self.peers().has_strangers();
        within(patience, LOOK, has_met).await;
    }

    /// Says goodbye, so that the other workers treat this worker's apps and agents as gone at once.
    pub async fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
        self.send_all(&Message::Bye.into());
        let is_told = || self.peers().all_written();
        within(GOODBYE, LOOK_WHEN_LEAVING, is_told).await;
        let _ = timeout(GOODBYE, self.give_lease_up()).await;
    }

    /// The current id of this worker. A worker that was taken for dead joins again under a new id.
    pub fn me(&self) -> WorkerId {
        self.peers().me
    }

    /// Whether this worker can reach the others, and how many they are.
    pub fn standing(&self) -> Standing {
        Standing {
            connected: self.connected.load(Ordering::Relaxed),
            others: self.peers().others.len(),
        }
    }

    /// The counts of the traffic to and from the other workers.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Whether that worker is known, and not given up.
    fn knows(&self, worker: WorkerId) -> bool {
        self.peers().others.contains_key(&worker)
    }

    /// The other workers that can be reached now.
    pub fn others(&self) -> Vec<WorkerId> {
        match self.connected.load(Ordering::Relaxed) {
            true => self.peers().others.keys().copied().collect(),
            false => Vec::new(),
        }
    }

    /// Whether a worker is gone that may have had a run which would still be remembered.
    pub fn has_lost_workers(&self) -> bool {
        !self.peers().lost.is_empty()
    }

    /// Whether every worker that lives is known here.
    pub fn knows_all(&self) -> bool {
        let now = self.now();
        self.connected.load(Ordering::Relaxed) && self.peers().leases_are_back(now)
    }

    /// The processes that take part, including this one.
    pub fn processes(&self) -> impl Iterator<Item = Uuid> + use<> {
        let others: Vec<_> = self.peers().others.keys().map(|it| it.process).collect();
        others.into_iter().chain([self.profile.process])
    }

    /// The current worker of a process, if the process takes part.
    pub fn of_process(&self, process: Uuid) -> Option<WorkerId> {
        self.peers().of_process(process)
    }

    /// What is known of a worker's process. The worker may have another id by now.
    pub fn life_of(&self, worker: WorkerId) -> Life {
        if worker.process == self.profile.process {
            return Life::Here;
        }
        let now = self.now();
        let peers = self.peers();
        // A worker that has joined again has another id.
        if peers.of_process(worker.process).is_some() {
            return Life::There;
        }
        if peers.is_buried(worker) {
            return Life::Over;
        }
        let connected = self.connected.load(Ordering::Relaxed);
        match connected && peers.leases_are_back(now) {
            true => Life::Over,
            false => Life::Unsure,
        }
    }

    /// Asks one worker. Returns `None` if the worker does not answer within `patience` or is gone.
    pub async fn ask(
        &self,
        worker: WorkerId,
        question: Question,
        patience: Duration,
    ) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        let id = self.peers().waits_for(worker, answer);
        let asking: Parcel = Message::Ask { id, question }.into();
        let answer = timeout(patience, async {
            self.send_in_turn(worker, &asking).await;
            // Nothing ends the question to a worker that was gone before.
            match self.knows(worker) {
                true => answered.await.ok(),
                false => None,
            }
        });
        let answer = answer.await.ok().flatten();
        self.peers().asked.remove(&id);
        answer
    }

    /// The time in milliseconds on a monotonic clock.
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock()
    }
}

/// Waits until `holds` returns true, but not longer than `time`. Checks every `every`.
async fn within(time: Duration, every: Duration, holds: impl Fn() -> bool) {
    let held = async {
        while !holds() {
            sleep(every).await;
        }
    };
    let _ = timeout(time, held).await;
}
