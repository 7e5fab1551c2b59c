//! A call on its way in.

use std::borrow::Cow;
use std::sync::Arc;

use super::{CallRequest, NewRun, RunId, Sink};
use crate::broker::Profile;

/// A call of an agent on a socket, or of a front.
#[derive(Debug)]
pub struct NewCall<'a> {
    /// The run that the call begins.
    pub run: RunId,
    /// See [`Run::dialect_id`](super::Run::dialect_id).
    pub dialect_id: Option<Arc<str>>,
    /// See [`Run::thread`](super::Run::thread).
    pub thread: Option<String>,
    /// The called capability.
    pub capability: Cow<'a, str>,
    /// The callId. An agent that gives none gets the id of the run.
    pub call_id: Arc<str>,
    /// The token of its progress, if that is not the callId.
    pub token: Option<Arc<str>>,
    /// What the app gets, if a front has made the call. An agent on a socket has written that itself.
    pub request: Option<CallRequest>,
    /// The agent's payload with a callId, if the agent gave none: without it only the app could name the call.
    pub completed: Option<String>,
    /// Where the steps of the call go, if a front has made it.
    pub(crate) sink: Option<Sink>,
}

impl NewCall<'_> {
    /// The run of the call, which that client makes to that app.
    pub(in crate::broker) fn run_of(
        &self,
        client: &Profile,
        app: Option<Arc<str>>,
        capability: Arc<str>,
    ) -> NewRun {
        NewRun {
            id: self.run,
            dialect: client.dialect,
            dialect_id: self.dialect_id.clone(),
            owner: client.owner.clone(),
            agent: client.name.clone(),
            thread: self.thread.clone(),
            app,
            capability,
            call_id: self.call_id.clone(),
        }
    }
}
