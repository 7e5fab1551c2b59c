//! How many of a host's sessions each party may open, so that no party locks out the others.

use super::state::HostState;
use super::terms::Party;

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
