//! Requests that the broker waits for no longer, and that their app may still answer. What the app confirms is
//! worth more than the giving up: a late answer tells how a run has ended whose outcome was unknown.

use crate::broker::amount::Amount;
use crate::broker::sessions::pending::{AnswerTo, Entry, read_issued};
use crate::broker::{PeerId, Seat};
use crate::remembered::Remembered;
use crate::wire::Request;

/// How many requests of one app are remembered.
pub(in crate::broker) const GIVEN_UP: usize = 1_024;

/// The requests that one app has not answered in time, by the numbers under which they went to the app.
#[derive(Debug, Default)]
pub(in crate::broker) struct GivenUp(Remembered<u64, (PeerId, Entry), GIVEN_UP>);

impl GivenUp {
    /// Remembers a request of an agent that the app has not answered. Nobody is told its answer, but the
    /// request's run may be settled by it. The run of an agent of another worker is there, so that worker is told
    /// the answer under its own id.
    pub fn keep(&mut self, agent: PeerId, entry: &mut Entry, seat: Seat) {
        let is_elsewhere = seat == Seat::Elsewhere;
        let ends_a_run = match entry.request {
            Request::Call | Request::Cancel => is_elsewhere || entry.run.is_some(),
            _ => false,
        };
        if !ends_a_run {
            return;
        }
        let answer_to = match is_elsewhere {
            true => std::mem::replace(&mut entry.answer_to, AnswerTo::Nobody),
            false => AnswerTo::Nobody,
        };
        let entry = Entry {
            issued: entry.issued,
            request: entry.request,
            answer_to,
            call_id: entry.call_id.clone(),
            run: entry.run,
            bytes: 0,
            amount: Amount::default(),
        };
        self.0.insert(entry.issued, (agent, entry));
    }

    /// The agent of the request with that id.
    pub fn agent(&self, id: Option<&str>) -> Option<PeerId> {
        let (agent, _) = self.0.get(&read_issued(id?)?)?;
        Some(*agent)
    }

    /// Removes and returns the request with that id, if `answers` is true for its type.
    pub fn take(
        &mut self,
        id: Option<&str>,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let issued = read_issued(id?)?;
        let is_answered = answers(self.0.get(&issued)?.1.request);
        let (_, entry) = is_answered.then(|| self.0.remove(&issued)).flatten()?;
        Some(entry)
    }
}
