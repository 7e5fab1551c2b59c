//! One call of a tool, from `tools/call` to its result.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ErrorData, JsonObject, ProgressNotificationParam,
};
use serde_json::Value;

use super::caller::Caller;
use super::progress::Progress;
use super::{result, tools};
use crate::broker::CapabilityInfo;
use crate::gateway::Hub;
use crate::gateway::calls::{AbpError, Call, Canceller, NewCall, Outcome, Step};
use caphost::call::{Code, Stop};

/// How a call ends, for MCP.
pub type Ended = Result<CallToolResult, ErrorData>;

/// What a call says.
pub enum Said {
    /// How far it is, if the client wants to know.
    Progress(ProgressNotificationParam),
    /// How it ended: nothing follows. How far its stop was seen, if it was cancelled.
    Ended(Ended, Option<Stop>),
}

/// A tool that may be called, with what it is called with.
pub struct ToolCall {
    capability: CapabilityInfo,
    arguments: JsonObject,
    progress: Option<Progress>,
}

/// A call being made.
pub struct Calling {
    call: Call,
    capability: CapabilityInfo,
    /// The id its client gave it.
    request_id: String,
    progress: Option<Progress>,
}

impl ToolCall {
    /// Looks for the tool that the client means. The error is how the call ends without it.
    pub fn find(hub: &Hub, caller: &Caller, params: CallToolRequestParams) -> Result<Self, Ended> {
        let offer = hub.offer(caller.app.as_deref()).map_err(|failure| {
            let error = AbpError::from(&failure);
            match failure.code == Code::DISCONNECTED {
                true => Ok(result::failed(&error, None)),
                false => Err(result::no_choice(&error)),
            }
        })?;
        let capability = tools::find(&offer.capabilities, &params.name).map_err(Err)?;
        let token = params.meta.and_then(|meta| meta.get_progress_token());
        Ok(ToolCall {
            capability: capability.clone(),
            arguments: params.arguments.unwrap_or_default(),
            progress: token.map(Progress::new),
        })
    }

    /// Makes the call, in the thread named, as `make` does it.
    pub fn make(
        self,
        request_id: String,
        thread: Option<&str>,
        make: impl FnOnce(NewCall) -> Call,
    ) -> Calling {
        let ToolCall {
            capability,
            arguments,
            progress,
        } = self;
        let call = make(NewCall {
            capability: capability.name.clone(),
            params: Some(Value::Object(arguments)),
            dialect_id: Some(request_id.clone()),
            thread: thread.map(str::to_string),
            progress: progress.is_some(),
            ..NewCall::default()
        });
        Calling {
            call,
            capability,
            request_id,
            progress,
        }
    }
}

impl Calling {
    /// What it says next. Safe to drop and to call again.
    pub async fn next(&mut self) -> Said {
        loop {
            match self.call.next().await {
                Step::Progress(info) => {
                    let progress = self.progress.as_mut();
                    if let Some(said) = progress.and_then(|progress| progress.read(&info)) {
                        return Said::Progress(said);
                    }
                }
                Step::Ended(outcome) => return self.ended(outcome),
            }
        }
    }

    /// What cancels it.
    pub fn canceller(&self) -> Canceller {
        self.call.canceller()
    }

    /// Waits for the end of a call whose caller waits no longer. The call, if it was abandoned: its
    /// work may end after all.
    pub async fn abandoned(mut self) -> Option<Call> {
        loop {
            if let Said::Ended(_, stop) = self.next().await {
                return self.left_behind(stop);
            }
        }
    }

    /// The call, if its stop was not seen.
    pub fn left_behind(self, stop: Option<Stop>) -> Option<Call> {
        (stop == Some(Stop::Abandoned)).then_some(self.call)
    }

    fn ended(&self, outcome: Outcome) -> Said {
        let run = self.call.id;
        match outcome {
            Outcome::Done { data, metadata } => {
                let promised = || tools::output_schema(&self.capability).is_some();
                let result = result::done(data, metadata, promised, run);
                Said::Ended(Ok(result), None)
            }
            Outcome::Failed(error) => Said::Ended(Ok(result::failed(&error, Some(run))), None),
            Outcome::Cancelled { stop, .. } => {
                let error = result::cancelled(&self.capability.name, &self.request_id, stop);
                Said::Ended(Err(error), Some(stop))
            }
        }
    }
}
