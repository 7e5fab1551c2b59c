//! Requests that an app has not answered yet.

use std::collections::HashSet;
use std::collections::hash_map::Entry::Occupied;
use std::io::Write;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::broker::amount::Amount;
use crate::broker::calls::{Asker, RunId};
use crate::wire::{Request, Subject};

/// One request that an app is to answer.
#[derive(Debug)]
pub(in crate::broker) struct Entry {
    /// The number under which the request went to the app.
    pub issued: u64,
    pub request: Request,
    /// Who waits for the answer.
    pub answer_to: AnswerTo,
    /// The `callId` of a cancel, as JSON.
    pub call_id: Option<Box<str>>,
    /// The run that a call begins, or a cancel is for.
    pub run: Option<RunId>,
    /// The bytes that the request takes of the queue to the app.
    pub bytes: usize,
    /// How much the request counts for its agent. It counts nothing if nobody is told its answer.
    pub amount: Amount,
}

/// Who waits for the answer to a request.
#[derive(Debug)]
pub(in crate::broker) enum AnswerTo {
    /// The agent, and others who have asked for the same cancel.
    Askers(SmallVec<[Asker; 1]>),
    /// A session of the gateway itself.
    Session,
    /// Nobody: the agent has left, or those who wait are noted at the call.
    Nobody,
}

impl AnswerTo {
    /// The agent, under its own id of the request.
    pub(in crate::broker) fn agent(id: Option<&str>) -> Self {
        AnswerTo::Askers(smallvec![Asker::Agent(id.map(Arc::from))])
    }

    /// Takes those who wait.
    pub(in crate::broker) fn take_askers(&mut self) -> SmallVec<[Asker; 1]> {
        match self {
            AnswerTo::Askers(askers) => std::mem::take(askers),
            AnswerTo::Session | AnswerTo::Nobody => SmallVec::new(),
        }
    }

    /// The ids that the answer goes to, if an agent waits for it.
    pub(in crate::broker) fn ids(&self) -> impl Iterator<Item = Option<&str>> {
        let askers = match self {
            AnswerTo::Askers(askers) => &askers[..],
            AnswerTo::Session | AnswerTo::Nobody => &[],
        };
        askers.iter().filter_map(|asker| match asker {
            Asker::Agent(id) => Some(id.as_deref()),
            _ => None,
        })
    }
}

impl Entry {
    /// The subject of an answer that refuses the request.
    pub(in crate::broker) fn subject(&self, id: Option<&str>) -> Subject {
        Subject {
            kind: Some(self.request.kind().into()),
            id: id.map(str::to_string),
            agent: None,
            call_id: self.call_id.as_deref().map(str::to_string),
        }
    }
}

/// Amounts by type of request.
pub(in crate::broker) type Counts = [Amount; Request::ALL.len()];

/// The unanswered requests of one agent, by the numbers under which they went to the app.
#[derive(Debug, Default)]
pub(in crate::broker) struct Pending {
    entries: FxHashMap<u64, Entry>,
    /// The ids of the requests, as the agent wrote them.
    ids: HashSet<Arc<str>>,
    /// The amounts of the agent's own requests, by type.
    counts: Counts,
    /// How many cancels of calls the agent waits for. Each is noted at its call.
    waiting: usize,
}

impl Pending {
    /// How many answers the agent itself waits for.
    pub(in crate::broker) fn awaited(&self) -> usize {
        self.counts.iter().map(|it| it.count).sum()
    }

    /// The bytes that all requests take of the queue to the app.
    pub(in crate::broker) fn bytes(&self) -> usize {
        let entries = self.entries.values();
        entries.map(|entry| entry.bytes).sum()
    }

    /// Whether the request with that number is a call.
    pub(in crate::broker) fn is_call(&self, issued: u64) -> bool {
        let entry = self.entries.get(&issued);
        entry.is_some_and(|entry| entry.request == Request::Call)
    }

    /// Whether a request of the agent has that id.
    pub(in crate::broker) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The amount of the agent's own requests of that type.
    pub(in crate::broker) fn amount(&self, request: Request) -> Amount {
        self.counts[request as usize]
    }

    /// How many cancels of calls the agent waits for.
    pub(in crate::broker) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The agent waits for a cancel of a call, under that id.
    pub(in crate::broker) fn wait(&mut self, id: Option<&Arc<str>>) {
        self.ids.extend(id.cloned());
        self.waiting += 1;
    }

    /// A cancel of a call is answered, under that id.
    pub(in crate::broker) fn answered(&mut self, id: Option<&Arc<str>>) {
        self.waiting = self.waiting.saturating_sub(1);
        if let Some(id) = id {
            self.ids.remove(id);
        }
    }

    /// The request with that number counts so much from now on. Returns how much it counted.
    pub(in crate::broker) fn count_again(&mut self, issued: u64, amount: Amount) -> Amount {
        let Some(entry) = self.entries.get_mut(&issued) else {
            return Amount::default();
        };
        let before = std::mem::replace(&mut entry.amount, amount);
        let counted = &mut self.counts[entry.request as usize];
        counted.take(before);
        counted.add(amount);
        before
    }

    /// Those who have asked for the cancel with that number wait for its answer alone. Returns the bytes that
    /// the cancel has taken of the queue.
    pub(in crate::broker) fn hand(&mut self, issued: u64, askers: Vec<Asker>) -> usize {
        let Some(mut entry) = self.take(issued, |_| true) else {
            return 0;
        };
        entry.answer_to = AnswerTo::Askers(askers.into());
        let bytes = std::mem::take(&mut entry.bytes);
        self.insert(entry);
        bytes
    }

    pub(in crate::broker) fn insert(&mut self, entry: Entry) {
        self.ids
            .extend(entry.answer_to.ids().flatten().map(Arc::from));
        self.counts[entry.request as usize].add(entry.amount);
        self.entries.insert(entry.issued, entry);
    }

    /// Removes and returns the entry, if `answers` is true for its request.
    pub(in crate::broker) fn take(
        &mut self,
        issued: u64,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let Occupied(entry) = self.entries.entry(issued) else {
            return None;
        };
        let entry = answers(entry.get().request).then(|| entry.remove())?;
        for id in entry.answer_to.ids().flatten() {
            self.ids.remove(id);
        }
        self.counts[entry.request as usize].take(entry.amount);
        Some(entry)
    }

    /// The number of the cancel of that run that is not answered.
    pub(in crate::broker) fn cancel_of(&self, run: RunId) -> Option<u64> {
        let mut entries = self.entries.values();
        let cancel = entries.find(|it| it.run == Some(run) && it.request == Request::Cancel);
        cancel.map(|entry| entry.issued)
    }

    /// The calls of runs, with the numbers under which they went to the app.
    pub(in crate::broker) fn calls(&self) -> impl Iterator<Item = (u64, RunId)> {
        let entries = self.entries.iter();
        let calls = entries.filter(|(_, entry)| entry.request == Request::Call);
        calls.filter_map(|(issued, entry)| Some((*issued, entry.run?)))
    }

    /// The agent has left. Nobody waits for its answers, but the outcomes of calls and of their cancels still
    /// count.
    pub(in crate::broker) fn leave(&mut self) {
        for mut entry in std::mem::take(self).entries.into_values() {
            if entry.run.is_some() {
                entry.answer_to = AnswerTo::Nobody;
                (entry.bytes, entry.amount) = (0, Amount::default());
                self.insert(entry);
            }
        }
    }

    /// Removes and returns all entries: cancels first, then in order of their numbers.
    pub(in crate::broker) fn take_all(&mut self) -> Vec<Entry> {
        let mut all: Vec<_> = std::mem::take(self).entries.into_values().collect();
        all.sort_by_key(|entry| (entry.request, entry.issued));
        all
    }
}

/// An id of the broker, as JSON.
pub(in crate::broker) struct IssuedId {
    text: [u8; IssuedId::LONGEST],
    length: usize,
}

impl IssuedId {
    /// `"g`, twenty digits, `"`
    const LONGEST: usize = 23;

    pub(in crate::broker) fn of(issued: u64) -> Self {
        let mut text = [0; IssuedId::LONGEST];
        let mut rest = &mut text[..];
        // Every number fits.
        let _ = write!(rest, r#""g{issued}""#);
        let length = IssuedId::LONGEST - rest.len();
        IssuedId { text, length }
    }

    pub(in crate::broker) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

/// The number in an id of the broker.
pub(in crate::broker) fn read_issued(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(r#""g"#)?.strip_suffix('"')?;
    // The broker never writes `"g01"` or `"g+1"`.
    let ours = digits == "0" || digits.starts_with(|first| matches!(first, '1'..='9'));
    digits.parse().ok().filter(|_| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_written_by_the_relay_are_read() {
        assert_eq!(read_issued(IssuedId::of(42).as_str()), Some(42));
        let last = IssuedId::of(u64::MAX);
        assert_eq!(read_issued(last.as_str()), Some(u64::MAX));
        for foreign in [
            r#""g042""#,
            r#""g+42""#,
            r#""42""#,
            "42",
            r#""g""#,
            r#""g-1""#,
        ] {
            assert_eq!(read_issued(foreign), None, "{foreign}");
        }
    }
}
