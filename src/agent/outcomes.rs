//! What an agent remembers of the calls it has settled.

use std::collections::{HashMap, VecDeque};

use crate::call::CallId;

/// How a call ended for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was said to be cancelled.
    Cancelled,
    /// The host's response was something else.
    Answered,
    /// Nobody knows.
    Unknown,
}

/// A bounded ring: the oldest is forgotten first.
pub(super) struct Outcomes {
    ends: HashMap<CallId, End>,
    order: VecDeque<CallId>,
    capacity: usize,
}

impl Outcomes {
    pub fn new(capacity: usize) -> Self {
        Outcomes {
            ends: HashMap::new(),
            order: VecDeque::new(),
            capacity,
        }
    }

    pub fn get(&self, id: &CallId) -> Option<End> {
        self.ends.get(id).copied()
    }

    pub fn insert(&mut self, id: CallId, end: End) {
        if self.capacity == 0 || self.ends.insert(id.clone(), end).is_some() {
            return;
        }
        if self.order.len() == self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.ends.remove(&oldest);
        }
        self.order.push_back(id);
    }

    /// Makes room for an id that is used again.
    pub fn forget(&mut self, id: &CallId) {
        if self.ends.remove(id).is_some() {
            self.order.retain(|it| it != id);
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }
}
