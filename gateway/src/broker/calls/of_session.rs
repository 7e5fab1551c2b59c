//! The calls of each agent by the ids that the agent has given them.

use std::collections::HashMap;
use std::collections::hash_map::Entry::Occupied;
use std::sync::Arc;

use super::{Calls, RunId};
use crate::broker::PeerId;
use crate::remembered::Remembered;

/// How many ended calls of one agent are found by their callIds.
const OVER: usize = 1_024;

/// The calls of one agent.
#[derive(Debug, Default)]
pub(super) struct OfSession {
    /// The calls that are not over, by callId.
    live: HashMap<Arc<str>, RunId>,
    /// Those of them whose progress carries another token than the callId.
    tokens: HashMap<Arc<str>, RunId>,
    /// The calls that are over, by callId.
    over: Remembered<Arc<str>, RunId, OVER>,
}

impl OfSession {
    pub fn add(&mut self, call_id: Arc<str>, token: Option<Arc<str>>, run: RunId) {
        self.tokens.extend(token.map(|token| (token, run)));
        self.live.insert(call_id, run);
    }

    /// A call is over.
    pub fn end(&mut self, call_id: &Arc<str>, token: Option<Arc<str>>, run: RunId) {
        // A later call may have the same callId, and use the same token.
        if let Some(Occupied(entry)) = token.map(|token| self.tokens.entry(token))
            && *entry.get() == run
        {
            entry.remove();
        }
        if let Occupied(entry) = self.live.entry(call_id.clone())
            && *entry.get() == run
        {
            entry.remove();
        }
    }

    /// How many callIds and tokens of live calls are kept.
    #[cfg(test)]
    pub fn kept(&self) -> [usize; 2] {
        [self.live.len(), self.tokens.len()]
    }
}

impl Calls {
    /// The live call of an agent with that callId.
    pub fn live_of(&self, agent: PeerId, call_id: &str) -> Option<RunId> {
        self.by_session.get(&agent)?.live.get(call_id).copied()
    }

    /// The call of an agent with that callId: live, or else remembered.
    pub fn of(&self, agent: PeerId, call_id: &str) -> Option<RunId> {
        let known = self.by_session.get(&agent)?;
        let over = || known.over.get(call_id);
        known.live.get(call_id).or_else(over).copied()
    }

    /// The live call of an agent whose progress carries that token.
    pub fn with_token(&self, agent: PeerId, token: &str) -> Option<RunId> {
        let known = self.by_session.get(&agent)?;
        let by_token = || known.tokens.get(token);
        known.live.get(token).or_else(by_token).copied()
    }

    /// The live calls of an agent that its app has.
    pub fn all_of(&self, agent: PeerId) -> impl Iterator<Item = RunId> {
        let known = self.by_session.get(&agent).into_iter();
        known.flat_map(|it| it.live.values().copied())
    }

    /// Whether a new call of an agent may not use that callId. The app does not know calls that were never
    /// sent to it, and the entry of a call that the app has must stay.
    pub fn has_used(&self, agent: PeerId, call_id: &str) -> bool {
        self.live_of(agent, call_id).is_some() || self.has_skipped(agent, call_id)
    }

    /// Whether the call of an agent with that callId was cancelled before it was sent.
    pub fn has_skipped(&self, agent: PeerId, call_id: &str) -> bool {
        let run = self.of(agent, call_id);
        let call = run.and_then(|run| self.calls.get(&run));
        call.is_some_and(|call| !call.is_sent)
    }

    /// A call of an agent is found by its callId as long as others do not take its place.
    pub fn remember_of(&mut self, agent: PeerId, call_id: Arc<str>, run: RunId) {
        let known = self.by_session.entry(agent).or_default();
        let forgotten = known.over.insert(call_id, run);
        if let Some(call) = forgotten.and_then(|run| self.calls.get_mut(&run)) {
            call.sink = None;
        }
    }

    /// An agent is gone, and its calls are over. Returns those whose handlers may still end, by callId.
    pub fn forget_session(&mut self, agent: PeerId) -> Vec<(Arc<str>, RunId)> {
        let known = self.by_session.remove(&agent).unwrap_or_default();
        let mut abandoned = Vec::new();
        for (call_id, run) in known.over.into_all() {
            if let Some(call) = self.calls.get_mut(&run) {
                call.sink = None;
                if call.run.may_end() {
                    abandoned.push((call_id, run));
                }
            }
        }
        abandoned
    }
}
