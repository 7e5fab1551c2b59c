//! Several workers on Redis that behave as one.
//!
//! Each worker holds the apps and agents connected to it. An app of one worker is an app on the
//! relays of all others, and an agent that calls it from there is an agent on the relay of its
//! worker, so the rules of a call hold across workers as they do within one. Between each two
//! workers there is a [`link::Link`] over streams in Redis. See `docs/cluster.md`.
//!
//! | module | what it knows |
//! |---|---|
//! | [`link`] | messages between two workers, each once and in order |
//! | [`membership`] | who takes part: leases |
//! | [`message`] | what workers say to each other |
//! | `facts` | what all of them are to know, while it is of use |
//! | `bridge` | apps and agents of other workers as peers of the relay |
//! | `redis` | keys, connections and the tasks on them |

mod asking;
mod bridge;
mod channel;
mod channel_message;
mod early;
mod facts;
mod home;
pub mod link;
pub mod membership;
pub mod message;
mod notice;
mod options;
mod peers;
mod question;
mod records;
mod redis;
mod seeking;
mod traffic;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};

use self::redis::Redis;
use crate::gateway::Hub;
pub use bridge::Tunnel;
use channel::{CANCEL_CHANNEL, Said};
pub use facts::Away;
pub use home::Life;
use membership::Membership;
use message::{Message, Parcel};
pub use notice::Notice;
pub use options::ClusterOptions;
use peers::{Peer, Peers};
pub use question::{Answer, Question};
use records::Records;
pub use seeking::Unsure;
pub use traffic::{METRICS, Traffic};
pub use worker::WorkerId;

/// For the others to hear that this worker leaves.
const GOODBYE: Duration = Duration::from_millis(500);
/// After which room is looked for without being told of any.
const LOOK: Duration = Duration::from_millis(50);

/// A worker's part in its cluster.
pub struct Cluster {
    me: Weak<Cluster>,
    hub: Arc<Hub>,
    redis: Redis,
    options: ClusterOptions,
    peers: Mutex<Peers>,
    /// There may be something to send.
    outgoing: Notify,
    /// This worker has another id.
    reborn: Notify,
    /// An agent of another worker has left its app here.
    departed: Notify,
    /// Runs of a worker that is gone are to be taken over.
    orphaned: Notify,
    records: Records,
    /// The channel of cancels is listened to and published on.
    channel: bool,
    said: Said,
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

/// How a worker stands with its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether Redis answers.
    pub connected: bool,
    /// The other workers known.
    pub others: usize,
}

impl Cluster {
    /// A worker about to take part, with the channel of cancels or without: an error for what is no
    /// URL of Redis. Nothing happens before [`Cluster::run`].
    pub fn new(
        hub: Arc<Hub>,
        url: &str,
        options: ClusterOptions,
        channel: bool,
    ) -> Result<Arc<Self>, String> {
        let redis = Redis::new(url, &options.redis_prefix)?;
        Ok(Arc::new_cyclic(|me| Cluster {
            me: me.clone(),
            hub,
            redis,
            peers: Mutex::new(Peers::new(Membership::new(options.worker_lease))),
            options,
            outgoing: Notify::new(),
            reborn: Notify::new(),
            departed: Notify::new(),
            orphaned: Notify::new(),
            records: Records::default(),
            channel,
            said: Said::default(),
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

    /// Takes part until it is dropped.
    pub async fn run(self: Arc<Self>) {
        tokio::join!(redis::run(&self), bridge::announce(&self));
    }

    /// What this worker is called.
    pub fn me(&self) -> WorkerId {
        self.peers().me
    }

    /// Waits until the others that there are have introduced themselves, for as long as Redis answers
    /// and at most `patience`: whoever comes by then is not taken for a stranger.
    pub async fn met(&self, patience: Duration) {
        let met = async {
            let strange = || {
                let peers = self.peers();
                peers.peers.values().any(|peer| peer.sessions.is_empty())
            };
            while !self.connected.load(Ordering::Relaxed) || strange() {
                sleep(LOOK).await;
            }
        };
        let _ = timeout(patience, met).await;
    }

    /// How this worker stands with the others.
    pub fn standing(&self) -> Standing {
        Standing {
            connected: self.connected.load(Ordering::Relaxed),
            others: self.peers().peers.len(),
        }
    }

    /// What went to and from the others.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Asks one worker. Nothing if it has not answered within `patience`, or is gone.
    pub async fn ask(
        &self,
        worker: WorkerId,
        question: Question,
        patience: Duration,
    ) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut peers = self.peers();
            peers.last_asked += 1;
            let id = peers.last_asked;
            let parcel = Parcel::from(Message::Ask { id, question });
            if !peers.push(worker, &parcel) {
                return None;
            }
            peers.asked.insert(id, (worker, answer));
            id
        };
        self.outgoing.notify_one();
        let answer = timeout(patience, answered).await;
        self.peers().asked.remove(&id);
        answer.ok()?.ok()
    }

    /// Tells all others.
    pub fn tell_all(&self, notice: Notice) {
        let parcel = Parcel::from(Message::Tell(notice));
        self.peers().push_to_all(&parcel);
        self.outgoing.notify_one();
    }

    /// Has the others cancel what they have on apps of this worker.
    pub fn stop(&self) {
        self.peers().push_to_all(&Message::Stopping.into());
        self.outgoing.notify_one();
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
        self.peers().push_to_all(&Message::Bye.into());
        self.outgoing.notify_one();
        let told = async {
            while !self
                .peers()
                .peers
                .values()
                .all(|peer| peer.link.is_settled())
            {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(GOODBYE, told).await;
    }

    fn shared(&self) -> Arc<Cluster> {
        let shared = self.me.upgrade();
        shared.unwrap_or_else(|| unreachable!("whoever asks holds one"))
    }

    /// What is to be had of another worker, unless it is gone. Not to be held while the hub is called.
    fn of<T>(&self, worker: WorkerId, look: impl FnOnce(&mut Peer) -> Option<T>) -> Option<T> {
        self.peers().peers.get_mut(&worker).and_then(look)
    }

    fn send(&self, worker: WorkerId, parcel: &Parcel) {
        self.peers().push(worker, parcel);
        self.outgoing.notify_one();
    }

    /// Whether that worker has greeted with that version, or a later one.
    fn knows(&self, worker: WorkerId, version: u32) -> bool {
        self.peers()
            .peers
            .get(&worker)
            .is_some_and(|peer| peer.version >= version)
    }

    /// Whether there is room on the way to a worker, or it is gone.
    fn has_room(&self, worker: WorkerId) -> bool {
        let peers = self.peers();
        peers
            .peers
            .get(&worker)
            .is_none_or(|peer| peer.link.has_room())
    }

    /// Waits for room on the way to a worker.
    async fn room(&self, worker: WorkerId) {
        loop {
            let room = match self.peers().peers.get(&worker) {
                Some(peer) if !peer.link.has_room() => peer.room.clone(),
                _ => return,
            };
            // It may have been told between the look and the wait.
            let _ = timeout(LOOK, room.notified()).await;
        }
    }

    /// Sends as soon as there is room on the way to a worker, unless it is gone.
    async fn send_in_turn(&self, worker: WorkerId, parcel: &Parcel) {
        loop {
            let room = {
                let mut peers = self.peers();
                match peers.peers.get(&worker) {
                    Some(peer) if !peer.link.has_room() => peer.room.clone(),
                    _ => {
                        peers.push(worker, parcel);
                        drop(peers);
                        return self.outgoing.notify_one();
                    }
                }
            };
            let notified = room.notified();
            tokio::select! {
                () = notified => {}
                // It may have been told between the look and the wait.
                () = sleep(LOOK) => {}
            }
        }
    }

    /// Milliseconds on a clock that never goes back.
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
