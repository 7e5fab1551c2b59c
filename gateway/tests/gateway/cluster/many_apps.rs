//! Many apps on one of two workers. One of the apps changes every few milliseconds.

use std::time::Instant;

use caphost_gateway::Identity;
use caphost_gateway::for_tests::{Connected, Event, Hub, Outbox, OutboxStep, PeerId, Seat};
use std::sync::Arc;

use super::*;

const APPS: usize = 10_000;
/// How many capabilities an app offers, and how long the schema of each is. Together they have 2 kB.
const CAPABILITIES: usize = 8;
const SCHEMA_BYTES: usize = 200;
const BETWEEN_CHANGES: Duration = Duration::from_millis(10);
/// How much the memory of the process may grow while the apps change.
const GROWTH: u64 = 16 << 20;

/// An app that is connected without a socket.
struct Connection {
    peer: PeerId,
    outbox: Arc<Outbox>,
    _connected: Connected,
}

impl Connection {
    fn register(hub: &Arc<Hub>, id: &str) -> Self {
        let (peer, outbox, connected) = hub.join(|peer| Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: Seat::Connected,
        });
        let capabilities: Vec<_> = (0..CAPABILITIES).map(|n| capability(n, 0)).collect();
        let app = json!({ "id": id, "name": "Demo", "version": "1" });
        let payload = json!({ "app": app, "capabilities": capabilities });
        let message = request("app/register", "r", payload).to_string();
        hub.receive(peer, &message, None);
        Connection {
            peer,
            outbox,
            _connected: connected,
        }
    }

    /// From now on, one of the app's capabilities is another one.
    fn change(&self, hub: &Hub, change: usize) {
        let number = change % CAPABILITIES;
        let added = [capability(number, change)];
        let payload = json!({ "added": added, "removed": [name(number)] });
        let message = request("app/update", "u", payload).to_string();
        hub.receive(self.peer, &message, None);
        while let Some(OutboxStep::Message(_, cost)) = self.outbox.pop() {
            self.outbox.written(cost);
        }
    }
}

fn name(number: usize) -> String {
    format!("a.{number}")
}

fn capability(number: usize, change: usize) -> Value {
    let schema = json!({ "type": "object", "title": "x".repeat(SCHEMA_BYTES) });
    let description = format!("change {change}");
    json!({ "name": name(number), "description": description, "inputSchema": schema })
}

/// The memory of the process in bytes.
fn memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

/// The processor time that the process has used, in seconds.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11..13]
        .iter()
        .map(|it| it.parse::<u64>().unwrap())
        .sum();
    ticks as f64 / 100.0
}

/// The shortest remaining time of a lease during the test, in milliseconds.
async fn least_left(redis: &Redis) -> i64 {
    let mut connection = redis.connection().await;
    let leases = redis.keys("worker").await;
    assert_eq!(leases.len(), 2);
    let mut least = i64::MAX;
    let looking = async {
        loop {
            for lease in &leases {
                let mut left = ::redis::cmd("PTTL");
                let left: i64 = left.arg(lease).query_async(&mut connection).await.unwrap();
                least = least.min(left);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let () = tokio::time::timeout(seconds(), looking).await.unwrap_or(());
    least
}

/// How long the test lasts.
fn seconds() -> Duration {
    let given = std::env::var("CAPHOST_TEST_SECONDS").ok();
    Duration::from_secs(given.map_or(30, |it| it.parse().unwrap()))
}

/// Changes one app after another, and waits after every hundredth change until the other worker knows it.
/// Returns the number of changes, and the longest wait in milliseconds.
async fn changes(apps: &[Connection], one: &Hub, two: &Hub) -> (usize, f64) {
    let mut ticks = tokio::time::interval(BETWEEN_CHANGES);
    let (start, mut count, mut longest) = (Instant::now(), 0, 0.0_f64);
    while start.elapsed() < seconds() {
        ticks.tick().await;
        count += 1;
        // All apps except the last.
        let number = count * 7_919 % (APPS - 1);
        let id = number.to_string();
        let mut offers = two.offer_changes(Some(&id));
        let changed = Instant::now();
        apps[number].change(one, count);
        if count % 100 == 0 {
            soon("the change", offers.changed()).await.unwrap();
            longest = longest.max(changed.elapsed().as_secs_f64() * 1_000.0);
            let offer = two.offer(Some(&id)).unwrap();
            let description = Some(format!("change {count}"));
            assert!(
                offer
                    .capabilities
                    .iter()
                    .any(|it| it.description == description)
            );
        }
    }
    (count, longest)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute, and is a measurement"]
async fn no_lease_is_late_while_one_of_ten_thousand_apps_changes_each_10_ms() {
    let redis = Redis::start();
    let config = || {
        let mut config = part_of(&redis);
        config.limits.apps = APPS;
        // Otherwise the limit could allow fewer apps on a system with few open files.
        config.limits.sessions = 100;
        config.cluster.worker_lease = ClusterOptions::default().worker_lease;
        config
    };
    let (one, two) = (Gateway::with(config()).await, Gateway::with(config()).await);
    met(&[&one, &two]).await;
    let joining = Instant::now();
    let register = |number: usize| Connection::register(&one.hub, &number.to_string());
    let apps: Vec<_> = (0..APPS).map(register).collect();
    let known = async {
        while two.hub.apps().len() < APPS {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), known)
        .await
        .unwrap();
    println!(
        "{APPS} apps known to both workers after {:.1?}",
        joining.elapsed()
    );

    // By then, memory that is kept for changes has been allocated.
    (0..APPS).for_each(|number| apps[number].change(&one.hub, number));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let bystander = two.hub.offer_changes(Some(&(APPS - 1).to_string()));
    let traffic = || one.hub.cluster().unwrap().traffic();
    let (memory_before, processor_before) = (memory(), processor());
    let bytes_before = traffic().bytes_sent.get();
    let ((count, longest), least) =
        tokio::join!(changes(&apps, &one.hub, &two.hub), least_left(&redis));
    let grown = memory().saturating_sub(memory_before);
    let used = (processor() - processor_before) / seconds().as_secs_f64() * 100.0;
    let bytes = (traffic().bytes_sent.get() - bytes_before) / count as u64;
    println!(
        "{count} changes: {bytes} bytes each, known to the other worker after {longest:.1} ms at the \
         longest; at least {least} ms left of each lease; {used:.0} % of one processor; memory {} MiB \
         + {} KiB",
        memory_before >> 20,
        grown >> 10
    );
    let lease = ClusterOptions::default().worker_lease.as_millis() as i64;
    assert!(least > lease / 2, "a lease is late: {least} ms");
    assert!(grown < GROWTH, "{grown} bytes");
    assert!(!bystander.has_changed().unwrap(), "its app has not changed");
    for worker in [&one, &two] {
        let workers = worker.hub.cluster().unwrap();
        assert_eq!(
            (
                workers.standing().others,
                workers.traffic().workers_lost.get()
            ),
            (1, 0)
        );
    }
}
