//! Requests passed on to apps and not answered yet.

use std::sync::Arc;

use super::PeerId;
use crate::broker::runs::RunId;
use crate::id_map::IdMap;
use crate::wire::{Request, Subject};

/// One request an app still has to answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub agent: PeerId,
    pub app: PeerId,
    pub request: Request,
    /// The agent's own id, as JSON.
    pub id: Option<Arc<str>>,
    /// A cancel's `callId`, as JSON.
    pub call_id: Option<String>,
    /// The run that a call begins, or a cancel is for.
    pub run: Option<RunId>,
    /// The run a cancel is for that its agent did not ask for, and is not told of.
    pub revokes: Option<RunId>,
}

impl Entry {
    /// What an answer that refuses it is about.
    pub(super) fn subject(&self) -> Subject {
        Subject {
            kind: Some(self.request.kind().into()),
            id: self.id.as_deref().map(str::to_string),
            agent: None,
            call_id: self.call_id.clone(),
        }
    }
}

/// The requests pending, under the ids they were re-issued with.
#[derive(Debug, Default)]
pub(super) struct Pending(IdMap<u64, Entry>);

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

/// An id of the relay's own, as JSON.
pub(super) fn issued_id(issued: u64) -> String {
    [r#""g"#, &issued.to_string(), r#"""#].concat()
}

/// The number in an id of the relay's own.
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
