//! How much there is room for: all together, and for each token a share.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fronts::semaphores::{Semaphores, permits};
use crate::tokens::Identity;

/// Room for a number of things, or of bytes.
#[derive(Debug)]
pub(super) struct Room {
    all: Arc<Semaphore>,
    /// How much of it one token may have, and what each has left.
    shares: Option<(usize, Semaphores<String>)>,
}

/// What is taken of it, until it is dropped.
pub(super) struct Taken {
    _all: OwnedSemaphorePermit,
    _share: Option<OwnedSemaphorePermit>,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// Nobody gets any.
    All,
    /// This token has its share.
    Share,
}

impl Room {
    /// The first to come may take all of it.
    pub(super) fn new(most: usize) -> Self {
        Room {
            all: permits(most),
            shares: None,
        }
    }

    /// One token may have no more than `share` of it.
    pub(super) fn shared(most: usize, share: usize) -> Self {
        Room {
            shares: Some((share, Semaphores::default())),
            ..Room::new(most)
        }
    }

    /// Takes `amount` of it for `owner`, if that much is left.
    pub(super) fn take(&self, owner: &Identity, amount: usize) -> Result<Taken, Full> {
        let take = |left: Arc<Semaphore>| {
            let amount = amount.try_into().ok()?;
            left.try_acquire_many_owned(amount).ok()
        };
        let share = match &self.shares {
            Some((share, named)) => {
                let left = named.get(&*owner.name, *share);
                Some(take(left).ok_or(Full::Share)?)
            }
            None => None,
        };
        Ok(Taken {
            _all: take(self.all.clone()).ok_or(Full::All)?,
            _share: share,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Role;

    fn agent(name: &str) -> Identity {
        Identity {
            role: Role::Agent,
            name: name.into(),
            app: None,
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let (room, alice) = (Room::new(10), agent("alice"));
        let six = room.take(&alice, 6).ok().unwrap();
        assert_eq!(room.take(&alice, 5).err(), Some(Full::All));
        let four = room.take(&alice, 4).ok().unwrap();
        drop(six);
        assert!(room.take(&alice, 6).is_ok() && room.take(&alice, 7).is_err());
        drop(four);
        assert!(room.take(&alice, 10).is_ok() && room.take(&alice, usize::MAX).is_err());
    }

    #[test]
    fn a_token_that_has_its_share_leaves_the_rest_to_others() {
        let room = Room::shared(10, 4);
        let (alice, bob) = (agent("alice"), agent("bob"));
        let four = room.take(&alice, 4).ok().unwrap();
        assert_eq!(room.take(&alice, 1).err(), Some(Full::Share));
        let others = [room.take(&bob, 4), room.take(&agent("carol"), 2)];
        assert!(others.iter().all(Result::is_ok));
        assert_eq!(room.take(&agent("dave"), 1).err(), Some(Full::All));
        drop(four);
        assert!(room.take(&alice, 4).is_ok());
    }
}
