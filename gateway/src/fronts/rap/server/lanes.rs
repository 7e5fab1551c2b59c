//! How many results are sent at once: a few to each URL and each host, so that one that hangs holds
//! up only itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// To one URL at once, 8.
const PER_URL: usize = 8;
/// To one host at once, 32: one of its URLs that hangs leaves room for the others.
const PER_HOST: usize = 32;
/// To all hosts together, 256: each is an open connection, or a name being looked up by one of the
/// 512 threads that the runtime has for such.
const IN_ALL: usize = 256;

/// What is being sent to.
#[derive(Debug)]
pub(super) struct Lanes {
    /// By URL, and by origin.
    lanes: Mutex<HashMap<String, Arc<Semaphore>>>,
    all: Arc<Semaphore>,
}

/// The right to send, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _url: Place,
    _host: Place,
    _any: Option<OwnedSemaphorePermit>,
}

/// One lane, waited for or taken.
#[derive(Debug)]
struct Place {
    lanes: Arc<Lanes>,
    name: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl Lanes {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Lanes {
            lanes: Mutex::default(),
            all: Arc::new(Semaphore::new(IN_ALL)),
        })
    }

    /// Waits for a turn to send to `url`.
    pub(super) async fn turn(self: &Arc<Self>, url: &Url) -> Turn {
        // The narrowest first: whoever waits for what hangs must not hold what others can use.
        let own = self.place(url.as_str().into(), PER_URL).await;
        let host = url.origin().ascii_serialization();
        let host = self.place(host, PER_HOST).await;
        let any = self.all.clone().acquire_owned().await;
        Turn {
            _url: own,
            _host: host,
            _any: any.ok(),
        }
    }

    /// Waits for one of the `most` places of a lane.
    async fn place(self: &Arc<Self>, name: String, most: usize) -> Place {
        let lane = {
            let mut lanes = self.lanes();
            let lane = lanes.entry(name.clone());
            lane.or_insert_with(|| Arc::new(Semaphore::new(most)))
                .clone()
        };
        let mut place = Place {
            lanes: self.clone(),
            name,
            permit: None,
        };
        // None is ever closed.
        place.permit = lane.acquire_owned().await.ok();
        place
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.permit = None;
        let mut lanes = self.lanes.lanes();
        // Waiting or sending, others hold it as well.
        if lanes
            .get(&self.name)
            .is_some_and(|lane| Arc::strong_count(lane) == 1)
        {
            lanes.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn taken(lanes: &Arc<Lanes>, text: &str, count: usize) -> Vec<Turn> {
        let mut turns = Vec::new();
        for _ in 0..count {
            turns.push(at_once(lanes, text).await.unwrap());
        }
        turns
    }

    async fn at_once(lanes: &Arc<Lanes>, text: &str) -> Option<Turn> {
        let url = Url::parse(text).unwrap();
        let turn = timeout(Duration::from_millis(50), lanes.turn(&url));
        turn.await.ok()
    }

    #[tokio::test]
    async fn a_busy_url_holds_up_itself_only_and_is_forgotten() {
        let lanes = Lanes::new();
        let mut busy = taken(&lanes, "http://a/1", PER_URL).await;
        assert!(at_once(&lanes, "http://a/1").await.is_none());
        assert!(at_once(&lanes, "http://a/2").await.is_some());
        busy.pop();
        assert!(at_once(&lanes, "http://a/1").await.is_some());
        busy.clear();
        assert!(lanes.lanes().is_empty());
        assert_eq!(lanes.all.available_permits(), IN_ALL);
    }

    #[tokio::test]
    async fn a_busy_host_holds_up_itself_only() {
        let lanes = Lanes::new();
        let mut busy = Vec::new();
        for number in 0..PER_HOST {
            busy.extend(taken(&lanes, &format!("http://a/{number}"), 1).await);
        }
        assert!(at_once(&lanes, "http://a/other").await.is_none());
        assert!(at_once(&lanes, "http://a:81/other").await.is_some());
    }

    #[tokio::test]
    async fn those_who_stop_waiting_leave_nothing_behind() {
        let lanes = Lanes::new();
        let busy = taken(&lanes, "http://a/", PER_URL).await;
        for _ in 0..3 {
            assert!(at_once(&lanes, "http://a/").await.is_none());
        }
        drop(busy);
        assert!(lanes.lanes().is_empty());
    }
}
