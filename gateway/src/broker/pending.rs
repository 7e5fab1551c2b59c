//! Requests that an app has not answered yet.

use std::collections::HashSet;
use std::collections::hash_map::Entry::Occupied;
use std::io::Write;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::broker::amount::Amount;
use crate::broker::call::Waiter;
use crate::broker::runs::RunId;
use crate::wire::{Request, Subject};

/// One request that an app is to answer.
#[derive(Debug)]
pub(super) struct Entry {
    /// The number under which the request went to the app.
    pub issued: u64,
    pub request: Request,
    /// Who waits for the answer.
    pub asker: Asker,
    /// The `callId` of a cancel, as JSON.
    pub call_id: Option<Box<str>>,
    /// The run that a call begins, or a cancel is for.
    pub run: Option<RunId>,
    /// The bytes that the request takes of the queue to the app.
    pub bytes: u32,
    /// The bytes that the gateway keeps of the request, its run and the cancels that have joined it.
    pub kept: u32,
    /// The ids of further cancels of the same call by its agent, which this one's answer answers too.
    pub joined: Vec<Option<Arc<str>>>,
}

/// Who waits for the answer to a request.
#[derive(Debug)]
pub(super) enum Asker {
    /// The agent, under its own id of the request, as JSON.
    Agent(Option<Arc<str>>),
    /// A session of the gateway itself.
    Own,
    /// Others than the agent, who have cancelled its call.
    Others(Vec<Waiter>),
    /// Nobody: the agent has left.
    Nobody,
}

impl Entry {
    /// The subject of an answer that refuses the request.
    pub(super) fn subject(&self, id: Option<&str>) -> Subject {
        Subject {
            kind: Some(self.request.kind().into()),
            id: id.map(str::to_string),
            agent: None,
            call_id: self.call_id.as_deref().map(str::to_string),
        }
    }

    /// The ids that the answer goes to, if an agent waits for it.
    pub(super) fn ids(&self) -> impl Iterator<Item = Option<&str>> {
        let own = match &self.asker {
            Asker::Agent(id) => Some(id),
            Asker::Own | Asker::Others(_) | Asker::Nobody => None,
        };
        own.into_iter().chain(&self.joined).map(Option::as_deref)
    }

    /// How much the request counts. It counts nothing if nobody is told its answer, or if it is the one
    /// cancel for which a call of the gateway itself always has room.
    pub(super) fn amount(&self) -> Amount {
        match (&self.asker, self.request) {
            (Asker::Others(_) | Asker::Nobody, _) | (Asker::Own, Request::Cancel) => {
                Amount::default()
            }
            (Asker::Agent(_) | Asker::Own, _) => Amount::one(self.kept as usize),
        }
    }

    /// Those who have cancelled a call of somebody else's with this request.
    pub(super) fn take_waiters(&mut self) -> Vec<Waiter> {
        match &mut self.asker {
            Asker::Others(waiters) => std::mem::take(waiters),
            Asker::Agent(_) | Asker::Own | Asker::Nobody => Vec::new(),
        }
    }

    /// The run that the request cancels, if others than its agent wait for the answer.
    pub(super) fn revokes(&self) -> Option<RunId> {
        self.run.filter(|_| matches!(self.asker, Asker::Others(_)))
    }
}

/// Amounts by type of request.
pub(super) type Counts = [Amount; Request::ALL.len()];

/// The unanswered requests of one agent, by the numbers under which they went to the app.
#[derive(Debug, Default)]
pub(super) struct Pending {
    entries: FxHashMap<u64, Entry>,
    /// The ids of the requests, as the agent wrote them.
    ids: HashSet<Arc<str>>,
    /// The amounts of the agent's own requests, by type.
    counts: Counts,
    /// How many cancels have joined others.
    joined: usize,
}

impl Pending {
    /// How many answers the agent itself waits for.
    pub(super) fn awaited(&self) -> usize {
        self.counts.iter().map(|it| it.count).sum()
    }

    /// The bytes that all requests take of the queue to the app.
    pub(super) fn bytes(&self) -> usize {
        let entries = self.entries.values();
        entries.map(|entry| entry.bytes as usize).sum()
    }

    /// Whether a request of the agent has that id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The amount of the agent's own requests of that type.
    pub(super) fn amount(&self, request: Request) -> Amount {
        self.counts[request as usize]
    }

    /// Cancels that have joined others.
    pub(super) fn joined(&self) -> usize {
        self.joined
    }

    /// Those who wait for the answer to that cancel by others than the agent.
    pub(super) fn waiters(&mut self, issued: u64) -> Option<&mut Vec<Waiter>> {
        match &mut self.entries.get_mut(&issued)?.asker {
            Asker::Others(waiters) => Some(waiters),
            Asker::Agent(_) | Asker::Own | Asker::Nobody => None,
        }
    }

    /// Whether the request with that number waits for its answer.
    pub(super) fn has(&self, issued: u64) -> bool {
        self.entries.contains_key(&issued)
    }

    /// A further cancel with that id joins the one with that number. It counts with its bytes alone, which
    /// are returned.
    pub(super) fn join(&mut self, issued: u64, id: Option<Arc<str>>) -> Amount {
        let Some(first) = self.entries.get_mut(&issued) else {
            return Amount::default();
        };
        let bytes = id.as_ref().map_or(0, |id| id.len());
        let amount = Amount { count: 0, bytes };
        first.kept = first
            .kept
            .saturating_add(bytes.try_into().unwrap_or(u32::MAX));
        first.joined.push(id.clone());
        self.ids.extend(id);
        self.joined += 1;
        self.counts[Request::Cancel as usize].add(amount);
        amount
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        if let Asker::Agent(Some(id)) = &entry.asker {
            self.ids.insert(id.clone());
        }
        self.counts[entry.request as usize].add(entry.amount());
        self.entries.insert(entry.issued, entry);
    }

    /// Removes and returns the entry, if `answers` is true for its request.
    pub(super) fn take(
        &mut self,
        issued: u64,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let Occupied(entry) = self.entries.entry(issued) else {
            return None;
        };
        let entry = answers(entry.get().request).then(|| entry.remove())?;
        if let Asker::Agent(Some(id)) = &entry.asker {
            self.ids.remove(id);
        }
        for id in entry.joined.iter().flatten() {
            self.ids.remove(id);
        }
        self.joined -= entry.joined.len();
        self.counts[entry.request as usize].take(entry.amount());
        Some(entry)
    }

    /// The calls of runs, with the numbers under which they went to the app.
    pub(super) fn calls(&self) -> impl Iterator<Item = (u64, RunId)> {
        let entries = self.entries.iter();
        let calls = entries.filter(|(_, entry)| entry.request == Request::Call);
        calls.filter_map(|(issued, entry)| Some((*issued, entry.run?)))
    }

    /// The agent has left. Nobody waits for its answers, but the outcomes of calls and of cancels by others
    /// still count.
    pub(super) fn leave(&mut self) {
        for entry in std::mem::take(self).entries.into_values() {
            let is_call = entry.request == Request::Call && entry.run.is_some();
            let is_others = entry.revokes().is_some();
            if is_others {
                self.insert(Entry { bytes: 0, ..entry });
            } else if is_call {
                let (asker, bytes) = (Asker::Nobody, 0);
                let entry = Entry {
                    asker,
                    bytes,
                    joined: Vec::new(),
                    ..entry
                };
                self.insert(entry);
            }
        }
    }

    /// Removes and returns all entries: cancels first, then in order of their numbers.
    pub(super) fn take_all(&mut self) -> Vec<Entry> {
        let mut all: Vec<_> = std::mem::take(self).entries.into_values().collect();
        all.sort_by_key(|entry| (entry.request, entry.issued));
        all
    }
}

/// An id of the broker, as JSON.
pub(super) struct IssuedId {
    text: [u8; IssuedId::LONGEST],
    length: usize,
}

impl IssuedId {
    /// `"g`, twenty digits, `"`
    const LONGEST: usize = 23;

    pub(super) fn of(issued: u64) -> Self {
        let mut text = [0; IssuedId::LONGEST];
        let mut rest = &mut text[..];
        // Every number fits.
        let _ = write!(rest, r#""g{issued}""#);
        let length = IssuedId::LONGEST - rest.len();
        IssuedId { text, length }
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

/// The number in an id of the broker.
pub(super) fn read_issued(id: &str) -> Option<u64> {
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
