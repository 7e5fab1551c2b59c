//! Requests passed on to apps and not answered yet.

use std::collections::HashSet;
use std::collections::hash_map::Entry::Occupied;
use std::io::Write;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::broker::amount::Amount;
use crate::broker::runs::RunId;
use crate::wire::{Request, Subject};

/// One request an app still has to answer.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    /// The number it was passed on with.
    pub issued: u64,
    pub request: Request,
    /// Who waits for the answer.
    pub asker: Asker,
    /// A cancel's `callId`, as JSON.
    pub call_id: Option<Box<str>>,
    /// The run that a call begins, or a cancel is for.
    pub run: Option<RunId>,
    /// What it costs the queue to the app.
    pub bytes: u32,
    /// The bytes of what is kept of it and its run.
    pub kept: u32,
}

/// Who waits for the answer to a request.
#[derive(Debug, PartialEq)]
pub(super) enum Asker {
    /// The agent, under that id of its own, as JSON.
    Agent(Option<Arc<str>>),
    /// The session of the gateway's own that the agent is.
    Own,
    /// No agent: it has left, or somebody else has had its call cancelled.
    Nobody,
}

impl Entry {
    /// What an answer that refuses it is about.
    pub(super) fn subject(&self, id: Option<&str>) -> Subject {
        Subject {
            kind: Some(self.request.kind().into()),
            id: id.map(str::to_string),
            agent: None,
            call_id: self.call_id.as_deref().map(str::to_string),
        }
    }

    /// What it counts as: nothing, if nobody is told of its answer, or if it is the one cancel that a call
    /// of the gateway's own has room for.
    pub(super) fn amount(&self) -> Amount {
        match (&self.asker, self.request) {
            (Asker::Nobody, _) | (Asker::Own, Request::Cancel) => Amount::default(),
            (Asker::Agent(_) | Asker::Own, _) => Amount::one(self.kept as usize),
        }
    }

    /// The run it cancels in nobody's name.
    pub(super) fn revokes(&self) -> Option<RunId> {
        let is_nobodys = self.asker == Asker::Nobody && self.request == Request::Cancel;
        self.run.filter(|_| is_nobodys)
    }
}

/// How much there is of each type.
pub(super) type Counts = [Amount; Request::ALL.len()];

/// One agent's requests that wait for an answer, by the numbers they were passed on with.
#[derive(Debug, Default)]
pub(super) struct Pending {
    entries: FxHashMap<u64, Entry>,
    /// Their ids, as the agent wrote them.
    ids: HashSet<Arc<str>>,
    /// How much of each type is the agent's own.
    counts: Counts,
}

impl Pending {
    /// How many the agent itself waits for.
    pub(super) fn awaited(&self) -> usize {
        self.counts.iter().map(|it| it.count).sum()
    }

    /// What all cost the queue to the app together.
    pub(super) fn bytes(&self) -> usize {
        let entries = self.entries.values();
        entries.map(|entry| entry.bytes as usize).sum()
    }

    /// Whether a request of the agent has that id.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// How much of that type is the agent's own.
    pub(super) fn amount(&self, request: Request) -> Amount {
        self.counts[request as usize]
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        if let Asker::Agent(Some(id)) = &entry.asker {
            self.ids.insert(id.clone());
        }
        self.counts[entry.request as usize].add(entry.amount());
        self.entries.insert(entry.issued, entry);
    }

    /// Takes the entry out, if `answers` holds of its request.
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
        self.counts[entry.request as usize].take(entry.amount());
        Some(entry)
    }

    /// The calls of runs, by the ids they were passed on with.
    pub(super) fn calls(&self) -> impl Iterator<Item = (u64, RunId)> {
        let entries = self.entries.iter();
        let calls = entries.filter(|(_, entry)| entry.request == Request::Call);
        calls.filter_map(|(issued, entry)| Some((*issued, entry.run?)))
    }

    /// The agent has left: nobody waits any more, but calls and the cancels of others are still of interest.
    pub(super) fn leave(&mut self) {
        for entry in std::mem::take(self).entries.into_values() {
            let is_call = entry.request == Request::Call && entry.run.is_some();
            if is_call || entry.revokes().is_some() {
                let (asker, bytes) = (Asker::Nobody, 0);
                let entry = Entry {
                    asker,
                    bytes,
                    ..entry
                };
                self.insert(entry);
            }
        }
    }

    /// Takes out all: those of cancels first, then in the order they were issued.
    pub(super) fn take_all(&mut self) -> Vec<Entry> {
        let mut all: Vec<_> = std::mem::take(self).entries.into_values().collect();
        all.sort_by_key(|entry| (entry.request, entry.issued));
        all
    }
}

/// An id of the broker's own, as JSON.
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
        // There is room for every number.
        let _ = write!(rest, r#""g{issued}""#);
        let length = IssuedId::LONGEST - rest.len();
        IssuedId { text, length }
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

/// The number in an id of the broker's own.
pub(super) fn read_issued(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(r#""g"#)?.strip_suffix('"')?;
    // `"g01"` and `"g+1"` are not ours.
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
