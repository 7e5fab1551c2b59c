//! The runs that a dialect's id may mean. In many dialects the ids are 1, 2 and 3 for every client, so one id
//! may mean thousands of runs.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Run, RunId};

/// Runs by the ids that their dialects give them.
#[derive(Debug, Default)]
pub(super) struct Namesakes(HashMap<Arc<str>, OfName>);

/// Runs of one id, in order of registration. Most ids have only one run.
#[derive(Debug)]
enum OfName {
    One(u64, RunId),
    Several(BTreeMap<u64, RunId>),
}

impl Namesakes {
    pub fn add(&mut self, run: &Run) {
        let Some(name) = &run.dialect_id else {
            return;
        };
        match self.0.entry(name.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(OfName::One(run.sequence, run.id))),
            Entry::Occupied(mut runs) => runs.get_mut().add(run.sequence, run.id),
        }
    }

    pub fn remove(&mut self, run: &Run) {
        let Some(name) = &run.dialect_id else {
            return;
        };
        let Some(runs) = self.0.get_mut(name) else {
            return;
        };
        let is_empty = match runs {
            OfName::One(_, id) => *id == run.id,
            OfName::Several(runs) => {
                runs.remove(&run.sequence);
                runs.is_empty()
            }
        };
        if is_empty {
            self.0.remove(name);
        }
    }

    /// How many ids there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Newest first.
    pub fn of(&self, name: &str) -> impl Iterator<Item = RunId> {
        let (one, several) = match self.0.get(name) {
            None => (None, None),
            Some(OfName::One(_, id)) => (Some(*id), None),
            Some(OfName::Several(runs)) => (None, Some(runs.values().rev().copied())),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

impl OfName {
    fn add(&mut self, sequence: u64, id: RunId) {
        match self {
            OfName::One(first, one) => {
                *self = OfName::Several(BTreeMap::from([(*first, *one), (sequence, id)]));
            }
            OfName::Several(runs) => drop(runs.insert(sequence, id)),
        }
    }
}
