//! How many of a host's sessions each party may open, so that no party locks out the others.

use super::HostState;

/// Where an agent's connection comes from. No party takes more of the free sessions than it leaves
/// to others: an origin gets at most half of all sessions, a window half of its origin's. A party
/// without a session gets the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Party {
    /// A place that is used by this connection alone, such as the page itself or a port.
    #[default]
    Alone,
    /// A window of an origin.
    Window {
        /// The number of the origin.
        origin: u32,
        /// The number of the window.
        window: u32,
    },
    /// A link, such as to a gateway. Many agents stand behind it, and together they may have nearly
    /// all sessions.
    Link(u32),
}

/// A link may have this many times what it leaves free.
const LINK: usize = 8;

impl Party {
    fn is_near(self, other: Party) -> bool {
        match (self, other) {
            (Party::Window { origin, .. }, Party::Window { origin: its, .. }) => origin == its,
            _ => self == other,
        }
    }
}

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Whether `party` may open one more session.
    pub(super) fn has_room(&self, party: Party) -> bool {
        let (mut all, mut near, mut held) = (0, 0, 0);
        for it in self.connections.values().filter(|it| it.session.is_some()) {
            all += 1;
            near += usize::from(party.is_near(it.party));
            held += usize::from(party == it.party);
        }
        if all >= self.limits.sessions {
            return false;
        }
        let others = self.limits.sessions - all - 1;
        let share = match party {
            Party::Alone => return true,
            Party::Link(_) => others.saturating_mul(LINK),
            Party::Window { .. } => others.saturating_sub(near).div_ceil(2),
        };
        near == 0 || held < share
    }
}
