//! Who may open how many of a host's sessions, so that nobody locks out the others.

use super::HostState;

/// Whom an agent's connection comes from. Of what is free, nobody takes more than he leaves to
/// others: an origin at most half of all sessions, a window half of its origin's. Whoever has no
/// session yet gets the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Party {
    /// From somewhere that only this one comes from, such as the page itself or a port.
    #[default]
    Alone,
    /// From a window, and one of an origin.
    Window {
        /// Names the origin.
        origin: u32,
        /// Names the window.
        window: u32,
    },
    /// From a link, such as to a gateway, behind which stand many agents. They share nearly all.
    Link(u32),
}

/// Times what is free, of what a link may have.
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
    /// Whether one more session may be opened by whom that connection comes from.
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
