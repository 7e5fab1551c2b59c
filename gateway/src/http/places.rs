//! HTTP connections: how many there may be, and which closes when there are too many.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::response::Response;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::bounds::Tally;
use crate::fronts::kept::keep;
use crate::fronts::socket::stream::Watch;

/// The connections that speak HTTP. Those that have become WebSockets are counted elsewhere. When one address
/// or all together have too many, an idle connection makes room: the oldest that never sent a request, or
/// else the oldest. If none is idle, the connection that has not read its answer for longest makes room. If
/// all read and all places are taken, an address with more than an equal share makes room. If there is no
/// such address, the next connection gets a spare place for a short time, where only health requests are
/// served. Among the spare connections, the address with most makes room.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_of_one: usize,
    taken: Mutex<Taken>,
    spare: Mutex<Taken>,
}

/// Spare places: enough for a connection that asks at once to be answered before as many others have come.
pub(crate) const SPARE: usize = 128;

/// How long a connection may have a spare place.
pub(crate) const SPARE_TIME: Duration = Duration::from_secs(3);

/// How long a client may stop reading its answer while nobody else needs the place.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    /// In order of arrival.
    all: BTreeMap<u64, Arc<Occupant>>,
    of_address: Tally<IpAddr, usize>,
}

#[derive(Debug)]
struct Occupant {
    address: IpAddr,
    /// How many requests are unanswered.
    busy: AtomicUsize,
    /// Whether the connection has sent a request.
    asked: AtomicBool,
    let_go: Arc<Notify>,
    watch: OnceLock<Watch>,
}

/// The place of a connection. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    occupant: Arc<Occupant>,
    is_spare: bool,
}

impl Places {
    pub fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        Arc::new(Places {
            most,
            most_of_one,
            taken: Mutex::default(),
            spare: Mutex::default(),
        })
    }

    /// Takes a place for a connection from that address or network. `None` if all other connections are busy.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut taken = self.taken(false);
        let is_full = if taken.of_address.of(&address) >= self.most_of_one {
            !taken.let_one_go(Some(address))
        } else {
            taken.all.len() >= self.most
                && !taken.let_one_go(None)
                && !taken.let_a_slow_one_go(address)
        };
        if is_full {
            drop(taken);
            taken = self.taken(true);
            if taken.all.len() >= SPARE {
                let of = taken.greediest();
                if !taken.let_one_go(of) && !taken.let_one_go(None) {
                    return None;
                }
            }
        }
        let (number, occupant) = taken.add(address);
        drop(taken);
        Some(Place {
            places: self.clone(),
            number,
            occupant,
            is_spare: is_full,
        })
    }

    /// Closes one connection that waits for a request.
    pub fn let_one_go(&self) {
        self.taken(false).let_one_go(None);
    }

    fn taken(&self, spare: bool) -> MutexGuard<'_, Taken> {
        let taken = if spare { &self.spare } else { &self.taken };
        taken.lock()
    }
}

impl Taken {
    fn add(&mut self, address: IpAddr) -> (u64, Arc<Occupant>) {
        let occupant = Arc::new(Occupant {
            address,
            busy: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            let_go: Arc::default(),
            watch: OnceLock::new(),
        });
        self.last += 1;
        self.all.insert(self.last, occupant.clone());
        self.of_address.change(&address, |count| *count += 1);
        (self.last, occupant)
    }

    /// The address with most connections.
    fn greediest(&self) -> Option<IpAddr> {
        let most = self.of_address.iter().max_by_key(|(_, count)| *count);
        most.map(|(address, _)| *address)
    }

    /// Closes an idle connection, of that address or of any. Returns whether there was one.
    fn let_one_go(&mut self, of: Option<IpAddr>) -> bool {
        let mut idle = None;
        let mut slow: Option<(tokio::time::Instant, u64)> = None;
        for (number, it) in &self.all {
            if of.is_some_and(|of| of != it.address) {
                continue;
            }
            if it.busy.load(Relaxed) > 0 {
                let since = it.watch.get().and_then(Watch::waits_since);
                let waits = since.filter(|since| since.elapsed() > PATIENCE);
                let waits = waits.map(|since| (since, *number));
                slow = slow.into_iter().chain(waits).min();
                continue;
            }
            if !it.asked.load(Relaxed) {
                idle = Some(*number);
                break;
            }
            idle = idle.or(Some(*number));
        }
        self.let_go(idle.or(slow.map(|(_, number)| number)))
    }

    /// Makes room for one more connection from that address: closes a busy connection of an address with more
    /// than an equal share. If some do not read their answers as fast as these are written, one of those
    /// goes, of the address with most; else the oldest. Returns whether there was one.
    fn let_a_slow_one_go(&mut self, address: IpAddr) -> bool {
        let own = self.of_address.of(&address);
        let addresses = self.of_address.len() + usize::from(own == 0);
        let share = (self.all.len() / addresses.max(1)).max(1);
        if own >= share {
            return false;
        }
        let slowest = self.all.iter().filter_map(|(number, it)| {
            let count = self.of_address.of(&it.address);
            let since = it.watch.get().and_then(Watch::waits_since);
            let order = (since.is_none(), Reverse(count), since, *number);
            (count > share).then_some(order)
        });
        self.let_go(slowest.min().map(|(.., number)| number))
    }

    /// Closes that connection. Returns whether there is one.
    fn let_go(&mut self, number: Option<u64>) -> bool {
        let gone = number.and_then(|number| self.remove(number));
        gone.is_some_and(|gone| {
            gone.let_go.notify_one();
            true
        })
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Occupant>> {
        let gone = self.all.remove(&number)?;
        self.of_address.change(&gone.address, |count| *count -= 1);
        Some(gone)
    }
}

impl Place {
    /// Whether the connection has a spare place, where only health requests are served.
    pub fn is_spare(&self) -> bool {
        self.is_spare
    }

    /// Waits until the time in a spare place is over.
    pub async fn expires(&self) {
        match self.is_spare {
            true => sleep(SPARE_TIME).await,
            false => std::future::pending().await,
        }
    }

    /// Sets the watch that sees how the connection is written to.
    pub fn watch_with(&self, watch: Watch) {
        let _ = self.occupant.watch.set(watch);
    }

    /// Notified when the connection has to make room.
    pub fn told(&self) -> Arc<Notify> {
        self.occupant.let_go.clone()
    }

    /// Waits until the connection has to make room.
    pub async fn let_go(&self) {
        self.occupant.let_go.notified().await;
    }

    /// Whether the connection has sent a request.
    pub fn was_asked(&self) -> bool {
        self.occupant.asked.load(Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken(self.is_spare).remove(self.number);
    }
}

/// Answers a request. The connection makes no room until all of the answer is sent.
pub(crate) fn while_answered<E, F: Future<Output = Result<Response, E>>>(
    place: &Place,
    answer: F,
) -> impl Future<Output = Result<Response, E>> + use<E, F> {
    let occupant = place.occupant.clone();
    occupant.asked.store(true, Relaxed);
    occupant.busy.fetch_add(1, Relaxed);
    let busy = Busy(occupant);
    async move {
        let response = answer.await?;
        Ok(response.map(|body| keep(body, busy)))
    }
}

/// An unanswered request. Dropping it counts it as answered.
#[derive(Debug)]
struct Busy(Arc<Occupant>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests;
