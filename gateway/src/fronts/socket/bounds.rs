//! The bounds that all WebSockets share.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::broker::CloseCode;
use crate::fronts::shares::Shares;
use crate::gateway::Outbox;
use crate::limits::Limits;

/// What every WebSocket is opened with.
#[derive(Debug)]
pub(crate) struct SocketBounds {
    /// For what is unfinished on all connections.
    pub unfinished: Arc<Budget>,
    /// Apps that have not registered yet.
    pub lobby: Arc<Lobby>,
    /// Agents that speak ABP. The broker bounds them all.
    pub agents: Arc<Shares>,
}

impl SocketBounds {
    pub fn new(limits: &Limits) -> Self {
        SocketBounds {
            unfinished: Arc::new(Budget::new(limits.unfinished_bytes)),
            lobby: Arc::new(Lobby {
                most: limits.unregistered_apps,
                most_of_one: limits.unregistered_apps_per_address,
                waiting: Mutex::default(),
            }),
            agents: Shares::new(usize::MAX, limits.sessions_per_token),
        }
    }
}

/// A number of bytes that several share.
#[derive(Debug)]
pub(crate) struct Budget {
    most: usize,
    used: AtomicUsize,
}

impl Budget {
    pub fn new(most: usize) -> Self {
        Budget {
            most,
            used: AtomicUsize::new(0),
        }
    }

    /// Takes so many, if they are left.
    pub fn take(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Relaxed);
        let is_left = used + bytes <= self.most;
        if !is_left {
            self.give(bytes);
        }
        is_left
    }

    pub fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Relaxed);
    }
}

/// The connections of apps that have shown no token and have not registered. When there are too many,
/// the one that has waited longest is closed: an app registers as soon as it is connected.
#[derive(Debug)]
pub(crate) struct Lobby {
    most: usize,
    most_of_one: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    /// In the order they came.
    all: BTreeMap<u64, (IpAddr, Arc<Outbox>)>,
    of_address: HashMap<IpAddr, usize>,
}

/// A place in the lobby, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct LobbyPlace(Arc<Lobby>, u64);

impl Lobby {
    /// Adds the connection of `outbox` from that address or network.
    pub fn enter(self: &Arc<Self>, address: IpAddr, outbox: Arc<Outbox>) -> LobbyPlace {
        let mut waiting = self.waiting();
        if waiting.of_address.get(&address) >= Some(&self.most_of_one) {
            waiting.close_oldest(Some(address));
        } else if waiting.all.len() >= self.most {
            waiting.close_oldest(None);
        }
        waiting.last += 1;
        let number = waiting.last;
        waiting.all.insert(number, (address, outbox));
        *waiting.of_address.entry(address).or_default() += 1;
        drop(waiting);
        LobbyPlace(self.clone(), number)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn remove(&mut self, number: u64) -> Option<Arc<Outbox>> {
        let (address, outbox) = self.all.remove(&number)?;
        if let Some(count) = self.of_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.of_address.remove(&address);
            }
        }
        Some(outbox)
    }

    /// Closes the one that has waited longest, of that address or of all.
    fn close_oldest(&mut self, of: Option<IpAddr>) {
        let mut all = self.all.iter();
        let oldest = all.find(|(_, (address, _))| of.is_none_or(|of| of == *address));
        let oldest = oldest.map(|(number, _)| *number);
        if let Some(outbox) = oldest.and_then(|number| self.remove(number)) {
            let reason = "Too many apps are connected that have not registered";
            outbox.close(CloseCode::TRY_AGAIN, reason.into());
            // It is not given the time to take leave.
            outbox.end();
        }
    }
}

impl Drop for LobbyPlace {
    fn drop(&mut self) {
        self.0.waiting().remove(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_has_waited_longest_makes_room_and_strangers_to_it_stay() {
        let lobby = Arc::new(Lobby {
            most: 3,
            most_of_one: 2,
            waiting: Mutex::default(),
        });
        let mut places = Vec::new();
        let mut enter = |last: u8| {
            let outbox = Arc::new(Outbox::new(1));
            places.push(lobby.enter([10, 0, 0, last].into(), outbox.clone()));
            outbox
        };
        let (first, other, second) = (enter(1), enter(2), enter(1));
        let third = enter(1);
        assert!(!first.is_open() && other.is_open() && second.is_open());
        // All places are taken now.
        let stranger = enter(3);
        assert!(!other.is_open() && second.is_open() && third.is_open() && stranger.is_open());
        drop(places);
        let waiting = lobby.waiting();
        assert!(waiting.all.is_empty() && waiting.of_address.is_empty());
    }
}
