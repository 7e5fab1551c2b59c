//! How many results are sent at once: a few to each host, so that one that hangs holds up only
//! itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Origin;

/// To one host at once, 16.
const PER_HOST: usize = 16;
/// To all hosts together, 256: each is an open connection, or a name being looked up by one of the
/// 512 threads that the runtime has for such.
const IN_ALL: usize = 256;

/// The hosts that are being sent to.
#[derive(Debug)]
pub(super) struct Lanes {
    hosts: Mutex<HashMap<Origin, Arc<Semaphore>>>,
    all: Arc<Semaphore>,
}

/// The right to send, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    lanes: Arc<Lanes>,
    host: Origin,
    permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl Lanes {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Lanes {
            hosts: Mutex::default(),
            all: Arc::new(Semaphore::new(IN_ALL)),
        })
    }

    /// Waits for a turn to send to `host`.
    pub(super) async fn turn(self: &Arc<Self>, host: Origin) -> Turn {
        let mut turn = Turn {
            lanes: self.clone(),
            host,
            permits: None,
        };
        let lane = {
            let mut hosts = self.hosts();
            let lane = hosts.entry(turn.host.clone());
            lane.or_insert_with(|| Arc::new(Semaphore::new(PER_HOST)))
                .clone()
        };
        // The host's first: whoever waits for a host that hangs must not hold a place of all.
        let own = lane.acquire_owned().await;
        let any = self.all.clone().acquire_owned().await;
        // Neither is ever closed.
        turn.permits = own.ok().zip(any.ok());
        turn
    }

    fn hosts(&self) -> std::sync::MutexGuard<'_, HashMap<Origin, Arc<Semaphore>>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.permits = None;
        let mut hosts = self.lanes.hosts();
        // Waiting or sending, others hold it as well.
        if hosts
            .get(&self.host)
            .is_some_and(|lane| Arc::strong_count(lane) == 1)
        {
            hosts.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use url::Url;

    use super::*;

    fn host(port: u16) -> Origin {
        Url::parse(&format!("http://127.0.0.1:{port}/"))
            .unwrap()
            .origin()
    }

    #[tokio::test]
    async fn a_busy_host_holds_up_itself_only_and_is_forgotten() {
        let lanes = Lanes::new();
        let mut busy = Vec::new();
        for _ in 0..PER_HOST {
            busy.push(lanes.turn(host(1)).await);
        }
        let late = timeout(Duration::from_millis(50), lanes.turn(host(1)));
        assert!(late.await.is_err());
        let other = timeout(Duration::from_secs(1), lanes.turn(host(2))).await;
        drop(other.unwrap());
        busy.pop();
        drop(
            timeout(Duration::from_secs(1), lanes.turn(host(1)))
                .await
                .unwrap(),
        );
        busy.clear();
        assert!(lanes.hosts().is_empty());
        assert_eq!(lanes.all.available_permits(), IN_ALL);
    }

    #[tokio::test]
    async fn those_who_stop_waiting_leave_nothing_behind() {
        let lanes = Lanes::new();
        let mut busy = Vec::new();
        for _ in 0..PER_HOST {
            busy.push(lanes.turn(host(1)).await);
        }
        for _ in 0..10 {
            let _ = timeout(Duration::from_millis(1), lanes.turn(host(1))).await;
        }
        busy.clear();
        assert!(lanes.hosts().is_empty());
    }
}
