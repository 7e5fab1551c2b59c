//! Several workers on Redis, and what they say to each other.
//!
//! The layers above use [`Cluster`], a worker's part in its cluster, and implement [`Here`], through
//! which they are told of the others. Between each two workers there is a link over streams in Redis.
//! See `docs/cluster.md`.
//!
//! | module | what it knows |
//! |---|---|
//! | [`options`] | how a worker takes part |
//! | [`worker`] | what workers are called |
//! | [`traffic`] | how a worker stands, and what is counted |
//! | [`message`] | what workers say to each other |
//! | [`link`] | messages between two workers, each once and in order |
//! | [`notices`] | what this worker tells all others |
//! | [`peers`] | the other workers: which there are, and what is on the way to them |
//! | [`member`] | what this worker does about the others, and what it tells the layers above |
//! | [`channel`], [`cancel_message`] | cancels that are published to other gateways, and heard of them |
//! | [`redis`](self::redis) | what is read from Redis and written there |

mod cancel_message;
mod channel;
mod link;
mod member;
pub mod message;
mod notices;
mod options;
mod peers;
mod redis;
mod traffic;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
use self::redis::records::Records;
use crate::broker::runs::News;
use crate::rate_limit::Pace;
use crate::seldom::Seldom;
pub use cancel_message::CancelMessage;
use channel::HEARD_PER_SECOND;
pub use member::Here;
use member::Member;
pub use message::{Answer, Notice, Question};
use message::{Message, Parcel};
use notices::Lasting;
pub use options::ClusterOptions;
use peers::Peers;
pub use traffic::{METRICS, Standing, Traffic};
pub use worker::{Life, WorkerId};

/// How long to tell the others that this worker leaves.
const GOODBYE: Duration = Duration::from_millis(500);
/// How often to check for room without being told of any.
const LOOK: Duration = Duration::from_millis(50);
/// The same for a worker that leaves.
const LOOK_WHEN_LEAVING: Duration = Duration::from_millis(5);

/// What a cluster has to know of its worker.
#[derive(Clone, Debug)]
pub struct WorkerProfile {
    /// Names the worker's process. Its apps' session tokens begin with it.
    pub process: Uuid,
    /// How long ended runs are remembered.
    pub retention: Duration,
    /// Whether the channel of cancels is listened to and published on.
    pub channel: bool,
}

/// A worker's part in its cluster.
pub struct Cluster {
    node: Node,
    options: ClusterOptions,
    profile: WorkerProfile,
    peers: Mutex<Peers>,
    /// There may be something to send.
    outgoing: Notify,
    /// This worker has another id.
    id_changed: Notify,
    /// Runs of a worker that is gone are to be taken over.
    orphaned: Notify,
    records: Records,
    /// How fast messages of the channel come.
    channel_pace: Pace,
    /// Messages of the channel are warned of now and then.
    warned: Seldom,
    leaving: AtomicBool,
    traffic: Traffic,
    connected: AtomicBool,
    /// The connection for commands, while there is one.
    commands: Mutex<Option<MultiplexedConnection>>,
    held: Held,
    lasting: Lasting,
    /// When Redis last answered, in milliseconds of [`Cluster::now`].
    answered: AtomicU64,
    started: Instant,
}

impl Cluster {
    /// A worker about to take part: an error for what is no URL of Redis. Nothing happens before
    /// [`Cluster::run`].
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
            id_changed: Notify::new(),
            orphaned: Notify::new(),
            records: Records::default(),
            channel_pace: Pace::new(HEARD_PER_SECOND, HEARD_PER_SECOND),
            warned: Seldom::new(),
            leaving: AtomicBool::new(false),
            traffic: Traffic::default(),
            connected: AtomicBool::new(false),
            commands: Mutex::default(),
            held: Held::default(),
            lasting: Lasting::default(),
            answered: AtomicU64::new(0),
            started: Instant::now(),
        }))
    }

    /// Takes part until it is dropped. What comes of the others is handed to `here`.
    pub async fn run(self: Arc<Self>, here: Arc<dyn Here>) {
        let member = Member {
            cluster: self,
            here,
        };
        match connection::run(&member).await {}
    }

    /// Waits until the others that there are have greeted, which tells of their apps too, at most
    /// `patience`: whoever asks for such an app from then on finds it.
    pub async fn met(&self, patience: Duration) {
        let has_met = || self.connected.load(Ordering::Relaxed) && !self.peers().has_strangers();
        within(patience, LOOK, has_met).await;
    }

    /// Says goodbye: the others take what is here for gone at once.
    pub async fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
        // A worker that hears of it takes over the recorded runs.
        let is_written = || !self.standing().connected || self.records.is_empty();
        within(GOODBYE, LOOK_WHEN_LEAVING, is_written).await;
        self.send_all(&Message::Bye.into());
        let is_told = || self.peers().all_acknowledged();
        within(GOODBYE, LOOK_WHEN_LEAVING, is_told).await;
        let _ = timeout(GOODBYE, self.give_lease_up()).await;
    }

    /// What this worker is called just now. One that was taken for dead joins under a new id.
    pub fn me(&self) -> WorkerId {
        self.peers().me
    }

    /// How this worker stands with the others.
    pub fn standing(&self) -> Standing {
        Standing {
            connected: self.connected.load(Ordering::Relaxed),
            others: self.peers().others.len(),
        }
    }

    /// What went to and from the others.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The others, as far as they can be reached now.
    pub fn others(&self) -> Vec<WorkerId> {
        match self.connected.load(Ordering::Relaxed) {
            true => self.peers().others.keys().copied().collect(),
            false => Vec::new(),
        }
    }

    /// How many workers are gone whose runs nobody has taken over yet.
    pub fn orphans(&self) -> usize {
        self.peers().orphans.len()
    }

    /// The processes that take part, this one among them.
    pub fn processes(&self) -> impl Iterator<Item = Uuid> + use<> {
        let others: Vec<_> = self.peers().others.keys().map(|it| it.process).collect();
        others.into_iter().chain([self.profile.process])
    }

    /// The worker that a process is now, if it takes part.
    pub fn of_process(&self, process: Uuid) -> Option<WorkerId> {
        self.peers().of_process(process)
    }

    /// What is known of the process of a worker, which was called so when that was written.
    pub fn life_of(&self, worker: WorkerId) -> Life {
        if worker.process == self.profile.process {
            return Life::Here;
        }
        let now = self.now();
        let peers = self.peers();
        // One that joins anew has another id.
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

    /// Sends to one worker, unless it is gone. Returns whether it is on its way.
    pub fn send(&self, worker: WorkerId, parcel: &Parcel) -> bool {
        // Packed while others may send.
        let bytes = parcel.pack();
        if bytes.is_none() {
            tracing::error!(%worker, "a message is too large for another worker");
        }
        let pushed = bytes.is_some_and(|bytes| self.peers().push(worker, bytes));
        self.outgoing.notify_one();
        pushed
    }

    /// Sends to all others.
    pub fn send_all(&self, parcel: &Parcel) {
        if self.peers().others.is_empty() {
            return;
        }
        // Packed while others may send.
        let Some(bytes) = parcel.pack() else { return };
        for peer in self.peers().others.values_mut() {
            peer.link.push(bytes.clone());
        }
        self.outgoing.notify_one();
    }

    /// Sends as soon as there is room on the way to a worker, unless it is gone.
    pub async fn send_in_turn(&self, worker: WorkerId, parcel: &Parcel) {
        let Some(bytes) = parcel.pack() else {
            return tracing::error!(%worker, "a message is too large for another worker");
        };
        // Somebody else may take the room.
        while !self.peers().push_into_room(worker, bytes.clone()) {
            self.room(worker).await;
        }
        self.outgoing.notify_one();
    }

    /// The same, if there is room within `patience`. Returns whether it is on its way.
    async fn send_within(&self, worker: WorkerId, parcel: &Parcel, patience: Duration) -> bool {
        let sent = timeout(patience, self.send_in_turn(worker, parcel)).await;
        sent.is_ok() && self.peers().others.contains_key(&worker)
    }

    /// Waits for room on the way to all others, at most `patience`.
    pub async fn room_everywhere(&self, patience: Duration) {
        let all = async {
            for worker in self.others() {
                self.room(worker).await;
            }
        };
        let _ = timeout(patience, all).await;
    }

    /// Whether there is room on the way to a worker, or it is gone.
    pub fn has_room(&self, worker: WorkerId) -> bool {
        self.full(worker).is_none()
    }

    /// Waits for room on the way to a worker.
    pub async fn room(&self, worker: WorkerId) {
        while let Some(room) = self.full(worker) {
            // It may have been told between the look and the wait.
            let _ = timeout(LOOK, room.notified()).await;
        }
    }

    /// The next time there may be room on the way to a worker, unless there is now, or it is gone.
    fn full(&self, worker: WorkerId) -> Option<Arc<Notify>> {
        let peers = self.peers();
        let peer = peers.others.get(&worker)?;
        (!peer.link.has_room()).then(|| peer.room.clone())
    }

    /// Asks one worker. Nothing if it has not answered within `patience`, or is gone.
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
            match self.send_within(worker, &asking, patience).await {
                true => answered.await.ok(),
                false => None,
            }
        });
        let answer = answer.await.ok().flatten();
        self.peers().asked.remove(&id);
        answer
    }

    /// Something is happening to runs here, which the others are to know if this worker dies: called
    /// before anything of it leaves this worker.
    pub fn note(&self, news: &[News]) {
        self.records.note(news);
    }

    /// What was noted may be written down.
    pub fn write_down(&self) {
        self.outgoing.notify_one();
    }

    /// Milliseconds on a clock that never goes back.
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock()
    }
}

/// Waits until `holds`, but not longer than `time`, and looks again after `every`.
async fn within(time: Duration, every: Duration, holds: impl Fn() -> bool) {
    let held = async {
        while !holds() {
            sleep(every).await;
        }
    };
    let _ = timeout(time, held).await;
}
