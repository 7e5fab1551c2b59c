//! Several workers on Redis, and what they say to each other.
//!
//! The layers above see [`Workers`], the other workers, and implement [`Here`], through which they are
//! told of them. [`Cluster`] is the one implementation: between each two workers there is a
//! link over streams in Redis. See `docs/cluster.md`.
//!
//! | module | what it knows |
//! |---|---|
//! | `workers` | the other workers, as the layers above see them |
//! | `link` | messages between two workers, each once and in order |
//! | `membership` | who takes part: leases |
//! | [`message`] | what workers say to each other |
//! | `member` | what this worker does about the others |
//! | `facts` | what all of them are to know, while it is of use |
//! | `channel` | cancels that are published to other gateways, and heard of them |
//! | `redis` | keys, connections and the tasks on them |

mod channel;
mod facts;
mod link;
mod member;
mod membership;
pub mod message;
mod notice;
mod options;
mod peers;
mod question;
mod records;
mod redis;
mod traffic;
mod workers;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};

use self::redis::Redis;
use crate::broker::runs::News;
use crate::tokens::Identity;
pub use channel::CancelMessage;
use channel::Published;
pub use facts::{Answered, Away, Facts};
use member::Member;
use membership::Membership;
use message::{Message, Parcel};
pub use notice::Notice;
pub use options::ClusterOptions;
use peers::Peers;
pub use question::{Answer, Question};
use records::Records;
pub use traffic::{METRICS, Traffic};
pub use workers::{Here, Life, Standing, WorkerId, Workers};

/// For the others to hear that this worker leaves.
const GOODBYE: Duration = Duration::from_millis(500);
/// After which room is looked for without being told of any.
const LOOK: Duration = Duration::from_millis(50);

/// What a cluster has to know of its worker.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What the worker is called while its process lives; the tokens of its apps' sessions begin so.
    pub home: String,
    /// For how long runs that have ended are remembered.
    pub retention: Duration,
    /// Whether the channel of cancels is listened to and published on.
    pub channel: bool,
}

/// A worker's part in its cluster.
pub struct Cluster {
    redis: Redis,
    options: ClusterOptions,
    profile: Profile,
    peers: Mutex<Peers>,
    /// There may be something to send.
    outgoing: Notify,
    /// This worker has another id.
    reborn: Notify,
    /// Runs of a worker that is gone are to be taken over.
    orphaned: Notify,
    records: Records,
    published: Published,
    /// When a message of the channel was last warned of.
    warned: AtomicU64,
    leaving: AtomicBool,
    traffic: Traffic,
    connected: AtomicBool,
    /// The connection for commands, while there is one.
    commands: Mutex<Option<MultiplexedConnection>>,
    held: facts::Held,
    /// When Redis last answered, in milliseconds of [`Cluster::now`].
    answered: AtomicU64,
    started: Instant,
}

impl Cluster {
    /// A worker about to take part: an error for what is no URL of Redis. Nothing happens before
    /// [`Cluster::run`].
    pub fn new(url: &str, options: ClusterOptions, profile: Profile) -> Result<Arc<Self>, String> {
        let redis = Redis::new(url, &options.redis_prefix)?;
        Ok(Arc::new(Cluster {
            redis,
            peers: Mutex::new(Peers::new(Membership::new(options.worker_lease))),
            options,
            profile,
            outgoing: Notify::new(),
            reborn: Notify::new(),
            orphaned: Notify::new(),
            records: Records::default(),
            published: Published::default(),
            warned: AtomicU64::new(0),
            leaving: AtomicBool::new(false),
            traffic: Traffic::default(),
            connected: AtomicBool::new(false),
            commands: Mutex::default(),
            held: facts::Held::default(),
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
        match redis::run(&member).await {}
    }

    /// Waits until the others that there are have introduced themselves, for as long as Redis answers
    /// and at most `patience`: whoever comes by then is not taken for a stranger.
    pub async fn met(&self, patience: Duration) {
        let met = async {
            while !self.connected.load(Ordering::Relaxed) || self.peers().has_strangers() {
                sleep(LOOK).await;
            }
        };
        let _ = timeout(patience, met).await;
    }

    /// Says goodbye: the others take what is here for gone at once.
    pub async fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
        let written = async {
            while self.standing().connected && !self.records.is_empty() {
                sleep(LOOK / 10).await;
            }
        };
        // Whoever hears of it takes over the runs that are written down.
        let _ = timeout(GOODBYE, written).await;
        self.send_all(&Message::Bye.into());
        let told = async {
            while !self.peers().are_settled() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(GOODBYE, told).await;
    }

    /// Puts a parcel on the way to a worker. Whether it is.
    fn push(&self, worker: WorkerId, parcel: &Parcel) -> bool {
        // Packed while others may send.
        let bytes = parcel.pack();
        if bytes.is_none() {
            tracing::error!(%worker, "a message is too large for another worker");
        }
        let pushed = bytes.is_some_and(|bytes| self.peers().push(worker, bytes));
        self.outgoing.notify_one();
        pushed
    }

    /// The next time there may be room on the way to a worker, unless there is now, or it is gone.
    fn full(&self, worker: WorkerId) -> Option<Arc<Notify>> {
        let peers = self.peers();
        let peer = peers.peers.get(&worker)?;
        (!peer.link.has_room()).then(|| peer.room.clone())
    }

    /// Milliseconds on a clock that never goes back.
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers for Cluster {
    fn me(&self) -> WorkerId {
        self.peers().me
    }

    fn home(&self) -> &str {
        &self.profile.home
    }

    fn standing(&self) -> Standing {
        Standing {
            connected: self.connected.load(Ordering::Relaxed),
            others: self.peers().peers.len(),
        }
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    fn others(&self) -> Vec<WorkerId> {
        match self.connected.load(Ordering::Relaxed) {
            true => self.peers().peers.keys().copied().collect(),
            false => Vec::new(),
        }
    }

    fn orphans(&self) -> usize {
        self.peers().orphans.len()
    }

    fn at_home(&self, home: &str) -> Option<WorkerId> {
        let peers = self.peers();
        let mut others = peers.peers.iter();
        let found = others.find(|(_, peer)| !home.is_empty() && peer.home == home);
        found.map(|(worker, _)| *worker)
    }

    fn life_of(&self, home: &str, worker: WorkerId) -> Life {
        if home == self.profile.home {
            return Life::Here;
        }
        let now = self.now();
        let peers = self.peers();
        // Its id does not tell: a worker that joins anew has another.
        let is_at_home = |peer: &peers::Peer| !home.is_empty() && peer.home == home;
        if peers.peers.contains_key(&worker) || peers.peers.values().any(is_at_home) {
            return Life::There;
        }
        if peers.membership.is_buried(worker) {
            return Life::Over;
        }
        let connected = self.connected.load(Ordering::Relaxed);
        match connected && peers.membership.is_settled(now) && !peers.has_strangers() {
            true => Life::Over,
            false => Life::Unsure,
        }
    }

    fn knows(&self, worker: WorkerId, version: u32) -> bool {
        let peers = self.peers();
        let peer = peers.peers.get(&worker);
        peer.is_some_and(|peer| peer.version >= version)
    }

    fn send(&self, worker: WorkerId, parcel: &Parcel) {
        self.push(worker, parcel);
    }

    fn send_to_those(&self, is_meant: &dyn Fn(u32) -> bool, parcel: &Parcel) {
        if !self.peers().has_any(is_meant) {
            return;
        }
        // Packed while others may send.
        let Some(bytes) = parcel.pack() else { return };
        self.peers().push_to_those(is_meant, &bytes);
        self.outgoing.notify_one();
    }

    fn send_in_turn<'a>(&'a self, worker: WorkerId, parcel: &'a Parcel) -> BoxFuture<'a, ()> {
        async move {
            let Some(bytes) = parcel.pack() else {
                return tracing::error!(%worker, "a message is too large for another worker");
            };
            loop {
                let room = {
                    let mut peers = self.peers();
                    match peers.peers.get(&worker) {
                        Some(peer) if !peer.link.has_room() => peer.room.clone(),
                        _ => {
                            peers.push(worker, bytes);
                            break;
                        }
                    }
                };
                // It may have been told between the look and the wait.
                let _ = timeout(LOOK, room.notified()).await;
            }
            self.outgoing.notify_one();
        }
        .boxed()
    }

    fn has_room(&self, worker: WorkerId) -> bool {
        self.full(worker).is_none()
    }

    fn room(&self, worker: WorkerId) -> BoxFuture<'_, ()> {
        async move {
            while let Some(room) = self.full(worker) {
                // It may have been told between the look and the wait.
                let _ = timeout(LOOK, room.notified()).await;
            }
        }
        .boxed()
    }

    fn ask(
        &self,
        worker: WorkerId,
        question: Question,
        patience: Duration,
    ) -> BoxFuture<'_, Option<Answer>> {
        async move {
            let (answer, answered) = oneshot::channel();
            let id = {
                let mut peers = self.peers();
                peers.last_asked += 1;
                let id = peers.last_asked;
                peers.asked.insert(id, (worker, answer));
                id
            };
            let answer = match self.push(worker, &Message::Ask { id, question }.into()) {
                true => timeout(patience, answered).await.ok(),
                false => None,
            };
            self.peers().asked.remove(&id);
            answer?.ok()
        }
        .boxed()
    }

    fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        self.publish(request_id, reason, by);
    }

    fn note(&self, news: &[News]) {
        self.records.note(news);
    }

    fn write_down(&self) {
        self.outgoing.notify_one();
    }
}
