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
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(60);

    /// What Redis is told: a name, a fact, and whether the fact holds no longer.
    fn told(held: &Held) -> Vec<(String, Vec<u8>, bool)> {
        let all = held.take_untold(99).into_iter();
        all.map(|(name, it)| (name, it.fact, it.is_over)).collect()
    }

    fn is(name: &str, fact: &[u8], is_over: bool) -> (String, Vec<u8>, bool) {
        (name.into(), fact.into(), is_over)
    }

    #[test]
    fn what_redis_may_not_know_is_told_once() {
        let held = Held::default();
        held.keep("a", b"1", TIME);
        held.keep("b", b"1", TIME);
        assert_eq!(told(&held), []);
        held.tell_later("b");
        assert_eq!(told(&held), [is("b", b"1", false)]);
        held.tell_all_again();
        assert_eq!(held.take_untold(1).len(), 1);
        held.keep("b", b"2", TIME);
        assert_eq!(told(&held), [is("b", b"2", false)]);
        held.keep("d", b"1", Duration::ZERO);
        held.tell_later("c");
        held.tell_later("d");
        assert_eq!(told(&held), [], "none of them is held");
    }

    #[test]
    fn what_is_released_while_redis_is_away_is_told_later() {
        let held = Held::default();
        held.keep("a", b"1", TIME);
        held.keep("b", b"1", TIME);
        held.release("a", b"1");
        held.release("b", b"another's");
        held.tell_all_again();
        assert_eq!(told(&held), [is("a", b"1", true), is("b", b"1", false)]);
        // The fact holds again before Redis has heard that it does not.
        held.keep("a", b"2", TIME);
        held.forget("a", b"1");
        held.tell_later("a");
        assert_eq!(told(&held), [is("a", b"2", false)]);
        held.release("a", b"2");
        held.forget("a", b"2");
        held.tell_later("a");
        assert_eq!(told(&held), []);
    }
}
