//! The bounds that all WebSockets share.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::bounds::{Budget, Ledgers, QuotaKey, RateLimiter, Tally, Turns};
use crate::broker::CloseCode;
use crate::fronts::socket::bursts::Bursts;
use crate::gateway::Outbox;
use crate::limits::{Limits, REGISTRATION_BYTES};

/// How many frames per second are accepted of all connections of one token, or of one address without a
/// token, if they are no message or a refused request. The same number may come at once. A peer that sends
/// more has to wait.
pub(crate) const REFUSED_PER_SECOND: u32 = 5_000;
pub(crate) const REFUSED_AT_ONCE: u32 = 10_000;

/// The largest message of an app that has not registered: a registration and its envelope.
pub(crate) const FIRST_BYTES: usize = REGISTRATION_BYTES + (64 << 10);

/// The bounds with which every WebSocket is opened.
#[derive(Debug)]
pub(crate) struct SocketBounds {
    /// Count the unfinished messages of all connections.
    pub unfinished: Arc<Ledgers>,
    /// Turns at reading large messages.
    pub turns: Arc<Turns>,
    /// Turns at reading small messages.
    pub bursts: Bursts,
    /// The rate of refused frames, by party.
    pub refused: RateLimiter,
    /// Apps that have not registered yet.
    pub lobby: Arc<Lobby>,
    /// ABP agents. The broker bounds all of them.
    pub agents: Arc<Budget>,
}

impl SocketBounds {
    pub fn new(limits: &Limits) -> Self {
        SocketBounds {
            unfinished: Arc::new(Ledgers::new(
                limits.unfinished_bytes,
                limits.unfinished_stranger_bytes,
            )),
            turns: Turns::of_processors(),
            bursts: Bursts::default(),
            refused: RateLimiter::with_burst(REFUSED_PER_SECOND.into(), REFUSED_AT_ONCE.into()),
            lobby: Arc::new(Lobby {
                most: limits.unregistered_apps,
                most_of_one: limits.unregistered_apps_per_address,
                waiting: Mutex::default(),
            }),
            agents: Budget::new(usize::MAX, limits.sessions_per_token),
        }
    }
}

/// The connections of apps that have not registered. When a party, or all strangers, have too many, the
/// connection that has waited longest is closed: an app registers as soon as it is connected. The number of
/// tokens is limited, and no stranger takes the place of a peer with a token.
#[derive(Debug)]
pub(crate) struct Lobby {
    most: usize,
    most_of_one: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    /// In order of arrival.
    all: BTreeMap<u64, (QuotaKey, Arc<Outbox>)>,
    of_key: Tally<QuotaKey, usize>,
    strangers: usize,
}

/// A place in the lobby. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct LobbyPlace(Arc<Lobby>, u64);

impl Lobby {
    /// Adds the connection of `outbox`, which belongs to that party.
    pub fn enter(self: &Arc<Self>, quota_key: QuotaKey, outbox: Arc<Outbox>) -> LobbyPlace {
        let mut waiting = self.waiting.lock();
        if waiting.of_key.of(&quota_key) >= self.most_of_one {
            waiting.close_oldest(|it| *it == quota_key);
        } else if quota_key.is_stranger() && waiting.strangers >= self.most {
            waiting.close_oldest(QuotaKey::is_stranger);
        }
        waiting.last += 1;
        let number = waiting.last;
        waiting.strangers += usize::from(quota_key.is_stranger());
        waiting.of_key.change(&quota_key, |count| *count += 1);
        waiting.all.insert(number, (quota_key, outbox));
        drop(waiting);
        LobbyPlace(self.clone(), number)
    }
}

impl Waiting {
    fn remove(&mut self, number: u64) -> Option<Arc<Outbox>> {
        let (quota_key, outbox) = self.all.remove(&number)?;
        self.strangers -= usize::from(quota_key.is_stranger());
        self.of_key.change(&quota_key, |count| *count -= 1);
        Some(outbox)
    }

    /// Closes the connection of such a party that has waited longest.
    fn close_oldest(&mut self, is_such: impl Fn(&QuotaKey) -> bool) {
        let mut all = self.all.iter();
        let oldest = all.find(|(_, (quota_key, _))| is_such(quota_key));
        let oldest = oldest.map(|(number, _)| *number);
        if let Some(outbox) = oldest.and_then(|number| self.remove(number)) {
            let reason = "Too many connected apps have not registered";
            outbox.close(CloseCode::TRY_AGAIN, reason.into());
            // The connection ends without a closing handshake.
            outbox.end();
        }
    }
}

impl Drop for LobbyPlace {
    fn drop(&mut self) {
        self.0.waiting.lock().remove(self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::QuotaKey;

    #[test]
    fn the_one_that_has_waited_longest_makes_room_and_strangers_to_it_stay() {
        let lobby = Arc::new(Lobby {
            most: 3,
            most_of_one: 2,
            waiting: Mutex::default(),
        });
        let mut places = Vec::new();
        let mut enter = |quota_key: QuotaKey| {
            let outbox = Arc::new(Outbox::new(1, Arc::default()));
            places.push(lobby.enter(quota_key, outbox.clone()));
            outbox
        };
        let from = |last: u8| QuotaKey::Stranger([10, 0, 0, last].into());
        let (first, other, second) = (enter(from(1)), enter(from(2)), enter(from(1)));
        let third = enter(from(1));
        assert!(!first.is_open() && other.is_open() && second.is_open());
        // A token has its own places.
        let known = QuotaKey::AppsOfToken("a".into());
        let known = [(); 3].map(|()| enter(known.clone()));
        assert_eq!(known.map(|it| it.is_open()), [false, true, true]);
        assert!(other.is_open());
        // All places of strangers are taken now.
        let stranger = enter(from(3));
        assert!(!other.is_open() && second.is_open() && third.is_open() && stranger.is_open());
        drop(places);
        let waiting = lobby.waiting.lock();
        assert!(waiting.all.is_empty() && waiting.strangers == 0);
        assert_eq!(waiting.of_key.len(), 0);
    }
}
