//! Requests passed on to apps and not answered yet.

use std::sync::Arc;

use super::PeerId;
use super::page::PageKey;
use crate::broker::runs::RunId;
use crate::wire::{Request, Subject};
use rustc_hash::FxHashMap;

/// One request an app still has to answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub agent: PeerId,
    pub app: PeerId,
    pub request: Request,
    /// Who waits for the answer.
    pub asker: Asker,
    /// A cancel's `callId`, as JSON.
    pub call_id: Option<Box<str>>,
    /// The run that a call begins, or a cancel is for.
    pub run: Option<RunId>,
}

/// Who waits for the answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asker {
    /// The agent, under that id of its own, as JSON.
    Agent(Option<Arc<str>>),
    /// The session of the gateway's own that the agent is.
    Page(PageKey),
    /// Whoever had this run cancelled. Its agent did not ask for it, and is not told of it.
    Revoker(RunId),
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

    /// The run it cancels in nobody's name.
    pub(super) fn revokes(&self) -> Option<RunId> {
        match self.asker {
            Asker::Revoker(run) => Some(run),
            _ => None,
        }
    }
}

/// The requests pending, under the ids they were re-issued with.
#[derive(Debug, Default)]
pub(super) struct Pending(FxHashMap<u64, Entry>);

impl Pending {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn insert(&mut self, issued: u64, entry: Entry) {
        self.0.insert(issued, entry);
    }

    /// Takes the entry out if it is that agent's, with that app, and `answers` holds of its request.
    pub(super) fn take(
        &mut self,
        issued: u64,
        agent: PeerId,
        app: PeerId,
        answers: impl FnOnce(Request) -> bool,
    ) -> Option<Entry> {
        let entry = self.0.get(&issued)?;
        let matches = entry.agent == agent && entry.app == app && answers(entry.request);
        if matches {
            self.0.remove(&issued)
        } else {
            None
        }
    }

    /// Takes out every entry named; those of cancels first, then in the order they were issued.
    pub(super) fn take_all(&mut self, issued: impl IntoIterator<Item = u64>) -> Vec<Entry> {
        let mut found: Vec<_> = issued
            .into_iter()
            .filter_map(|issued| Some((issued, self.0.remove(&issued)?)))
            .collect();
        found.sort_by_key(|(issued, entry)| (entry.request, *issued));
        found.into_iter().map(|(_, entry)| entry).collect()
    }
}

/// An id of the broker's own, as JSON.
pub(super) fn issued_id(issued: u64) -> String {
    [r#""g"#, &issued.to_string(), r#"""#].concat()
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
        assert_eq!(read_issued(&issued_id(42)), Some(42));
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
