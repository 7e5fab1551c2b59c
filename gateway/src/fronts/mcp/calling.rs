//! The tool that a `tools/call` names, and the call that is made of it.

use std::sync::Arc;

use serde_json::Value;

use super::progress::Progress;
use super::request::Request;
use super::result::{self, Ended};
use super::session::Caller;
use super::tools;
use crate::broker::Offer;
use crate::fronts::shared_sessions::InUse;
use crate::gateway::Hub;
use crate::gateway::calls::{Call, Canceller, NewCall, Outcome, Step};
use crate::wire::Json;
use crate::wire::json_rpc::{Id, RpcError, code};
use caphost::call::Stop;

/// A tool that may be called, with what it is called with.
pub struct Tool {
    offer: Arc<Offer>,
    name: String,
    arguments: Json,
    progress: Option<Progress>,
}

impl Tool {
    /// Looks for the tool that the client means. The error is how the call ends without it.
    pub fn find(
        hub: &Hub,
        caller: &Caller,
        app: Option<&str>,
        request: &Request<'_>,
    ) -> Result<Self, Ended> {
        let (Some(name), Ok(arguments)) = (request.name(), request.arguments()) else {
            let message = "Invalid parameters for tools/call";
            return Err(Err(RpcError::new(code::INVALID_PARAMS, message)));
        };
        let offer = tools::offer(hub, caller, app)?;
        let capability = tools::find(&offer, &name).map_err(Err)?;
        Ok(Tool {
            name: capability.name.clone(),
            arguments: arguments.to_string().into(),
            progress: request.progress_token().cloned().map(Progress::new),
            offer,
        })
    }

    /// Calls it, in the thread named, as `make` does it.
    pub fn call(
        self,
        id: &Id,
        thread: Option<String>,
        make: impl FnOnce(NewCall) -> Call,
    ) -> Calling {
        let call = make(NewCall {
            capability: self.name.clone(),
            params: Some(self.arguments),
            dialect_id: Some(id.plain()),
            thread,
            progress: self.progress.is_some(),
            ..NewCall::default()
        });
        Calling {
            call,
            offer: self.offer,
            name: self.name,
            progress: self.progress,
            in_use: None,
        }
    }
}

/// A call being made.
pub struct Calling {
    pub call: Call,
    offer: Arc<Offer>,
    name: String,
    progress: Option<Progress>,
    /// Keeps the session of the app that it is made in, if that is shared.
    pub in_use: Option<InUse>,
}

/// What a call says.
pub enum Said {
    /// How far it is, if the client wants to know.
    Progress(Value),
    /// How it ended: nothing follows. How far its stop was seen, if it was cancelled.
    Ended(Ended, Option<Stop>),
}

impl Calling {
    /// What cancels it.
    pub fn canceller(&self) -> Canceller {
        self.call.canceller()
    }

    /// What it says next. Safe to drop and to call again.
    pub async fn next(&mut self, id: &Id) -> Said {
        loop {
            match self.call.next().await {
                Step::Progress(info) => {
                    let progress = self.progress.as_mut();
                    if let Some(said) = progress.and_then(|progress| progress.read(&info)) {
                        return Said::Progress(said);
                    }
                }
                Step::Ended(outcome) => return self.ended(id, outcome),
            }
        }
    }

    /// Waits for the end of a call whose caller waits no longer.
    pub async fn abandoned(&mut self, id: &Id) -> Option<Stop> {
        loop {
            if let Said::Ended(_, stop) = self.next(id).await {
                return stop;
            }
        }
    }

    fn ended(&self, id: &Id, outcome: Outcome) -> Said {
        let run = self.call.id;
        match outcome {
            Outcome::Done { data, metadata } => {
                let result = result::done(data, metadata, || self.promises(), run);
                Said::Ended(Ok(result), None)
            }
            Outcome::Failed(error) => Said::Ended(Ok(result::failed(&error, Some(run))), None),
            Outcome::Cancelled { stop, by, .. } => {
                let error = result::cancelled(&self.name, id, stop, by);
                Said::Ended(Err(error), Some(stop))
            }
        }
    }

    /// Whether its tool has an output schema.
    fn promises(&self) -> bool {
        let tool = self.offer.named(&self.name);
        tool.is_some_and(tools::promises)
    }
}
