//! The hub: the broker, and the queues that the broker writes into.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{broadcast, mpsc, watch};
use uuid::Uuid;

use crate::bounds::Turns;
use crate::broker::calls::CancelNotice;
use crate::broker::{Broker, Counters, Event, Now, PeerId, Seat, ToApp};
use crate::cluster::{Cluster, Notice};
use crate::gateway::background::Tasks;
use crate::gateway::clustered::Clustered;
use crate::gateway::files::Files;
use crate::gateway::lifecycle::{Connected, Lifecycle};
use crate::gateway::listeners::Listeners;
use crate::gateway::metrics::{Metrics, Readings};
use crate::gateway::outbox::{Outbox, QueuedBytes};
use crate::gateway::resume::Queues;
use crate::gateway::time::Timer;
use crate::limits::Limits;
use crate::tokens::{Identity, Tokens};
use crate::wire::{Failure, Incoming};
use rustc_hash::FxHashMap;

/// How many notices the hub keeps for a session that does not read them at once.
pub(crate) const NOTICES: usize = 256;

/// How many searches on other workers run at once for one token.
const SEARCHES: usize = 16;

/// A function that hears the notices of other workers until it returns false.
type HearsOthers = Box<dyn Fn(&Notice) -> bool + Send>;

/// The state that all connections share.
pub struct Hub {
    /// The gateway's limits.
    pub limits: Limits,
    /// The tokens: who may connect in which role.
    pub tokens: Tokens,
    /// The files that results refer to.
    pub(crate) files: Files,
    /// The gateway's metrics.
    pub metrics: Arc<Metrics>,
    /// The state of the background tasks.
    pub tasks: Arc<Tasks>,
    state: Mutex<State>,
    started: Instant,
    last_number: AtomicU64,
    pub(super) timer: Timer,
    pub(super) queued: Arc<QueuedBytes>,
    /// The phase of the gateway's life.
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) listeners: Listeners,
    pub(crate) notices: broadcast::Sender<CancelNotice>,
    /// The searches on other workers: those for runs to show, and those for runs to cancel.
    pub(super) searches: [Turns; 2],
    /// The functions that hear the notices of other workers.
    pub(super) hears_others: Mutex<Vec<HearsOthers>>,
    /// Changes when another worker comes or comes back.
    pub(crate) arrivals: watch::Sender<()>,
    clustered: OnceLock<Arc<Clustered>>,
    /// The name of this process. The tokens of its apps' sessions begin with it.
    pub(crate) process: Uuid,
}

pub(crate) struct State {
    pub broker: Broker,
    pub outboxes: Queues,
    /// The ports of the apps inside the gateway.
    pub ports: FxHashMap<PeerId, mpsc::UnboundedSender<ToApp>>,
}

/// A queue to a peer of a front, which the broker does not know. The queue counts until this value is
/// dropped.
pub(crate) struct Queued {
    hub: Arc<Hub>,
    peer: PeerId,
    /// The queue.
    pub outbox: Arc<Outbox>,
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.hub.state().outboxes.remove(&self.peer);
    }
}

impl Hub {
    /// A hub without peers.
    pub fn new(limits: Limits, tokens: Tokens) -> Self {
        let broker = Broker::new(limits.clone(), tokens.clone());
        Hub {
            files: Files::new(&limits.references),
            limits,
            tokens,
            metrics: Arc::default(),
            tasks: Arc::default(),
            state: Mutex::new(State {
                broker,
                outboxes: Queues::default(),
                ports: FxHashMap::default(),
            }),
            started: Instant::now(),
            last_number: AtomicU64::new(0),
            timer: Timer::default(),
            queued: Arc::default(),
            lifecycle: Arc::new(Lifecycle::new()),
            listeners: Listeners::default(),
            notices: broadcast::Sender::new(NOTICES),
            searches: [(); 2].map(|()| Turns::new(usize::MAX, SEARCHES)),
            hears_others: Mutex::default(),
            arrivals: watch::Sender::default(),
            clustered: OnceLock::new(),
            process: Uuid::new_v4(),
        }
    }

    /// The cluster of this worker, if the worker is part of one.
    pub fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.clustered().map(|clustered| &clustered.cluster)
    }

    /// This hub's part in the cluster, if it has one.
    pub(super) fn clustered(&self) -> Option<&Arc<Clustered>> {
        self.clustered.get()
    }

    /// Makes this worker part of a cluster. May be called only once.
    pub(super) fn join_cluster(&self, clustered: Arc<Clustered>) {
        let _ = self.clustered.set(clustered);
    }

    /// Adds a connection. `joined` makes the event that tells the broker of it.
    pub fn join(
        self: &Arc<Self>,
        joined: impl FnOnce(PeerId) -> Event<'static>,
    ) -> (PeerId, Arc<Outbox>, Connected) {
        let peer = self.next_peer();
        let event = joined(peer);
        // The app exists as long as its worker says so. If its queue overflows, the queue is emptied and the
        // app stays.
        let lasts = matches!(
            event,
            Event::AppJoined {
                seat: Seat::Elsewhere,
                ..
            }
        );
        let outbox = self.new_outbox();
        let outbox = Arc::new(match lasts {
            true => outbox.lasting(),
            false => outbox,
        });
        let connected = self.connected();
        self.state().outboxes.insert(peer, outbox.clone());
        self.handle(event);
        (peer, outbox, connected)
    }

    /// Adds an app inside the gateway. What is for the app comes out of the returned port.
    pub(crate) fn join_inside(self: &Arc<Self>) -> (PeerId, mpsc::UnboundedReceiver<ToApp>) {
        let peer = self.next_peer();
        let (to_app, port) = mpsc::unbounded_channel();
        let event = Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: Seat::Own,
        };
        self.handle_with(event, |state| drop(state.ports.insert(peer, to_app)));
        (peer, port)
    }

    /// The id of a new peer.
    pub(crate) fn next_peer(&self) -> PeerId {
        PeerId(self.next_number())
    }

    /// A number that is greater than all numbers before.
    pub(crate) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// See [`Lifecycle::connected`].
    pub fn connected(&self) -> Connected {
        self.lifecycle.connected()
    }

    /// How many bytes wait for all peers. Messages that are kept for apps that may come back count as well.
    pub fn queued_bytes(&self) -> usize {
        self.queued.used()
    }

    /// A queue to a peer of `owner` that the broker does not know. The queue counts until the returned value
    /// is dropped.
    pub(crate) fn queue(self: &Arc<Self>, owner: &Arc<str>) -> Queued {
        let outbox = Arc::new(self.new_outbox());
        let peer = self.next_peer();
        let mut state = self.state();
        state
            .outboxes
            .insert_of(Some(owner.clone()), peer, outbox.clone());
        drop(state);
        let hub = self.clone();
        Queued { hub, peer, outbox }
    }

    /// An empty queue to a peer.
    pub fn new_outbox(&self) -> Outbox {
        Outbox::new(self.limits.queued_bytes, self.queued.clone())
    }

    /// A peer has sent a text frame. `shared` is the buffer that contains `text`.
    pub fn receive(&self, peer: PeerId, text: &str, shared: Option<&Bytes>) {
        let incoming = Incoming::new(text, shared, &self.limits);
        self.handle(Event::received(peer, incoming.envelope(&self.limits)));
    }

    /// The queue to a peer has become shorter. Does nothing if the queue has grown again by now or the peer
    /// is on another connection.
    pub fn relieved(&self, peer: PeerId, outbox: &Outbox) {
        let now = self.now();
        let mut state = self.state();
        if state.outboxes.is_on(peer, outbox) {
            let backlog = outbox.backlog();
            state.broker.handle(Event::Backlog { peer, backlog }, now);
        }
    }

    /// The `/abp.json` of the named app. Without a name, of the only app or of the demo app.
    pub fn manifest(&self, app: Option<&str>) -> Result<Bytes, Failure> {
        let shown = self.state().broker.apps().shown(app);
        let (offer, text) = shown?;
        // The text is made once for each offer, outside the lock.
        Ok(text.get_or_init(|| offer.manifest().into()).clone())
    }

    /// See [`Broker::counters`].
    pub fn counters(&self) -> Counters {
        self.state().broker.counters()
    }

    /// See [`Broker::requests_in_flight`].
    pub fn requests_in_flight(&self) -> usize {
        self.state().broker.sessions().requests_in_flight()
    }

    /// Whether the gateway waits for nothing: neither for an answer nor for the end of a call that its agent
    /// has left behind.
    pub fn is_idle(&self) -> bool {
        let broker = &self.state().broker;
        broker.sessions().requests_in_flight() == 0 && broker.sessions().calls_left() == 0
    }

    /// See [`Broker::peers`].
    pub fn peers(&self) -> (usize, usize) {
        self.state().broker.peers()
    }

    /// The values that the metrics read on demand.
    pub fn readings(&self) -> Readings<'_> {
        let cluster = self.cluster().map(|it| (it.standing(), it.traffic()));
        let state = self.state();
        Readings {
            apps: state.broker.peers().1,
            agents: state.broker.sessions().by_dialect(),
            in_flight: state.broker.in_flight(),
            counters: state.broker.counters(),
            cluster,
            sessions: state.outboxes.counts,
        }
    }

    pub(crate) fn now(&self) -> Now {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            monotonic_ms: self.started.elapsed().as_secs_f64() * 1_000.0,
            unix_ms: unix.as_millis() as u64,
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
