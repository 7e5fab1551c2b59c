//! How many results are sent at once: a few to each URL and to each host, so that one that hangs
//! holds up no other.

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

/// Limits how many results are sent at once.
#[derive(Debug)]
pub(super) struct SendLimits {
    /// By URL, and by origin, while somebody sends or waits.
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
    all: Arc<Semaphore>,
}

/// The right to send, until it is dropped.
#[derive(Debug)]
pub(super) struct SendPermit {
    _url: Slot,
    _host: Slot,
    _any: Option<OwnedSemaphorePermit>,
}

/// A place at one URL or host, taken or waited for.
#[derive(Debug)]
struct Slot {
    limits: Arc<SendLimits>,
    name: String,
    permit: Option<OwnedSemaphorePermit>,
}

impl SendLimits {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(SendLimits {
            places: Mutex::default(),
            all: Arc::new(Semaphore::new(IN_ALL)),
        })
    }

    /// Waits until a result may be sent to `url`.
    pub(super) async fn acquire(self: &Arc<Self>, url: &Url) -> SendPermit {
        // The narrowest first: whoever waits for a URL that hangs must hold no place of others.
        let own = self.slot(url.as_str().into(), PER_URL).await;
        let host = url.origin().ascii_serialization();
        let host = self.slot(host, PER_HOST).await;
        let any = self.all.clone().acquire_owned().await;
        SendPermit {
            _url: own,
            _host: host,
            _any: any.ok(),
        }
    }

    /// Waits for one of the `most` places of a URL or host.
    async fn slot(self: &Arc<Self>, name: String, most: usize) -> Slot {
        let places = {
            let mut places = self.places();
            let entry = places.entry(name.clone());
            entry
                .or_insert_with(|| Arc::new(Semaphore::new(most)))
                .clone()
        };
        let mut slot = Slot {
            limits: self.clone(),
            name,
            permit: None,
        };
        // The semaphores are never closed.
        slot.permit = places.acquire_owned().await.ok();
        slot
    }

    fn places(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.permit = None;
        let mut places = self.limits.places();
        // Others that wait or send hold it too.
        if places
            .get(&self.name)
            .is_some_and(|it| Arc::strong_count(it) == 1)
        {
            places.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn taken(limits: &Arc<SendLimits>, text: &str, count: usize) -> Vec<SendPermit> {
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(at_once(limits, text).await.unwrap());
        }
        permits
    }

    async fn at_once(limits: &Arc<SendLimits>, text: &str) -> Option<SendPermit> {
        let url = Url::parse(text).unwrap();
        let permit = timeout(Duration::from_millis(50), limits.acquire(&url));
        permit.await.ok()
    }

    #[tokio::test]
    async fn a_busy_url_holds_up_itself_only_and_is_forgotten() {
        let limits = SendLimits::new();
        let mut busy = taken(&limits, "http://a/1", PER_URL).await;
        assert!(at_once(&limits, "http://a/1").await.is_none());
        assert!(at_once(&limits, "http://a/2").await.is_some());
        busy.pop();
        assert!(at_once(&limits, "http://a/1").await.is_some());
        busy.clear();
        assert!(limits.places().is_empty());
        assert_eq!(limits.all.available_permits(), IN_ALL);
    }

    #[tokio::test]
    async fn a_busy_host_holds_up_itself_only() {
        let limits = SendLimits::new();
        let mut busy = Vec::new();
        for number in 0..PER_HOST {
            busy.extend(taken(&limits, &format!("http://a/{number}"), 1).await);
        }
        assert!(at_once(&limits, "http://a/other").await.is_none());
        assert!(at_once(&limits, "http://a:81/other").await.is_some());
    }

    #[tokio::test]
    async fn those_who_stop_waiting_leave_nothing_behind() {
        let limits = SendLimits::new();
        let busy = taken(&limits, "http://a/", PER_URL).await;
        for _ in 0..3 {
            assert!(at_once(&limits, "http://a/").await.is_none());
        }
        drop(busy);
        assert!(limits.places().is_empty());
    }
}
