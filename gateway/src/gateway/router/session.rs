//! One client's way to its app.

use std::sync::{Arc, Mutex, PoisonError};

use super::call::Call;
use super::{Client, NewCall, local};
use crate::agent::{self, Agent};
use crate::broker::runs::{NewRun, RunId};
use crate::gateway::Hub;

/// One client's calls. Clones share it; when the last is dropped its agent leaves the app once the
/// calls made in it have ended. It connects with the first call, and again after the app was lost.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

pub(crate) struct Shared {
    hub: Arc<Hub>,
    client: Client,
    agent: Mutex<Option<Agent>>,
}

impl Session {
    pub(crate) fn new(hub: Arc<Hub>, client: Client) -> Self {
        Session(Arc::new(Shared {
            hub,
            client,
            agent: Mutex::default(),
        }))
    }

    pub(crate) fn from_shared(shared: Arc<Shared>) -> Self {
        Session(shared)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    /// Makes a call. Its run is registered when this returns; whatever is wrong with it comes as
    /// its outcome.
    pub fn call(&self, call: NewCall) -> Call {
        let Shared { hub, client, .. } = &*self.0;
        let id = RunId::random();
        let call_id = call.call_id.unwrap_or_else(|| id.to_string());
        let go = hub.register_run(NewRun {
            id,
            dialect: client.dialect,
            dialect_id: call.dialect_id.map(Into::into),
            owner: client.owner.clone(),
            thread: call.thread,
            app: client.app.as_deref().map(Into::into),
            capability: call.capability.clone(),
            call_id: (&*call_id).into(),
        });
        if !go {
            return Call::skipped(hub.clone(), id);
        }
        let agent = self.agent();
        let calling = agent.call(agent::NewCall {
            capability: call.capability,
            params: call.params,
            timeout: call.timeout,
            call_id: Some(call_id),
            progress: call.progress,
            run: Some(id),
        });
        Call::made(hub.clone(), id, agent, calling)
    }

    fn agent(&self) -> Agent {
        let Shared { hub, client, agent } = &*self.0;
        let mut agent = agent.lock().unwrap_or_else(PoisonError::into_inner);
        match &*agent {
            Some(agent) if !agent.is_over() => agent.clone(),
            _ => agent.insert(local::join(hub, client)).clone(),
        }
    }
}
