//! The facts of this worker. Redis is told of a fact again if Redis may not have heard it, or may have lost
//! it.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How many facts are held at most: 65 536.
const HELD: usize = 65_536;

/// The facts of this worker, by their names.
#[derive(Debug, Default)]
pub struct Held(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    facts: HashMap<String, HeldFact>,
    /// The names of the facts that Redis must be told.
    untold: BTreeSet<String>,
}

/// A fact. Redis is told of the fact only if Redis knows no other fact of that name.
#[derive(Clone, Debug)]
pub(super) struct HeldFact {
    pub fact: Vec<u8>,
    pub until: Instant,
    /// Whether Redis is told that the fact holds no longer.
    pub is_over: bool,
}

impl Held {
    /// Holds a fact for `time`.
    pub(super) fn keep(&self, name: &str, fact: &[u8], time: Duration) {
        let now = Instant::now();
        let Some(until) = now.checked_add(time) else {
            return;
        };
        let facts = &mut self.0.lock().facts;
        if facts.len() >= HELD {
            facts.retain(|_, it| it.until > now);
        }
        if facts.len() >= HELD && !facts.contains_key(name) {
            return tracing::warn!("too many facts are held: Redis is not told this one again");
        }
        let held = HeldFact {
            fact: fact.into(),
            until,
            is_over: false,
        };
        facts.insert(name.into(), held);
    }

    /// Whether a fact of that name is held.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.lock().facts.contains_key(name)
    }

    /// Marks a fact as holding no longer.
    pub(super) fn release(&self, name: &str, fact: &[u8]) {
        let facts = &mut self.0.lock().facts;
        if let Some(held) = facts.get_mut(name).filter(|it| it.fact == fact) {
            held.is_over = true;
        }
    }

    /// Redis has heard that the fact holds no longer.
    pub(super) fn forget(&self, name: &str, fact: &[u8]) {
        let facts = &mut self.0.lock().facts;
        let is_over = |it: &HeldFact| it.is_over && it.fact == fact;
        if facts.get(name).is_some_and(is_over) {
            facts.remove(name);
        }
    }

    /// Tells Redis later, because Redis may not have heard of the fact.
    pub(super) fn tell_later(&self, name: &str) {
        let State { facts, untold } = &mut *self.0.lock();
        if facts.contains_key(name) {
            untold.insert(name.into());
        }
    }

    /// Tells Redis all facts again, because Redis may have lost them.
    pub(super) fn tell_all_again(&self) {
        let State { facts, untold } = &mut *self.0.lock();
        let now = Instant::now();
        facts.retain(|_, it| it.until > now);
        *untold = facts.keys().cloned().collect();
    }

    /// Takes facts that Redis must be told, at most `max` of them.
    pub(super) fn take_untold(&self, max: usize) -> Vec<(String, HeldFact)> {
        let State { facts, untold } = &mut *self.0.lock();
        let now = Instant::now();
        let next = || {
            let name = untold.pop_first()?;
            Some((facts.get(&name).cloned(), name))
        };
        let some = std::iter::from_fn(next).filter_map(|(held, name)| Some((name, held?)));
        // Only these facts count towards `max`: expired facts must not look like the end of all facts.
        some.filter(|(_, held)| held.until > now)
            .take(max)
            .collect()
    }
}

#[cfg(test)]
mod tests;
