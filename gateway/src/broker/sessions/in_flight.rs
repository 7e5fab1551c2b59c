//! The unanswered requests of each token, over all of its connections. They are bounded, so that many
//! connections of one token cannot fill the gateway's memory.

use std::sync::Arc;

use super::pending::Counts;
use crate::broker::amount::Amount;
use crate::tally::Tally;
use crate::wire::Request;

/// How many requests of each type are unanswered, by the names of the owners.
#[derive(Debug, Default)]
pub(in crate::broker) struct InFlight(Tally<Arc<str>, Counts>);

impl InFlight {
    pub(in crate::broker) fn of(&self, owner: &Arc<str>, request: Request) -> Amount {
        self.0.of(owner)[request as usize]
    }

    pub(in crate::broker) fn add(&mut self, owner: &Arc<str>, request: Request, amount: Amount) {
        self.0
            .change(owner, |counts| counts[request as usize].add(amount));
    }

    pub(in crate::broker) fn give_back(
        &mut self,
        owner: &Arc<str>,
        request: Request,
        amount: Amount,
    ) {
        self.0
            .change(owner, |counts| counts[request as usize].take(amount));
    }
}
