//! One call of a tool.

use std::sync::{Arc, OnceLock};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ErrorData, JsonObject};
use rmcp::service::{RequestContext, ServiceError};
use serde_json::Value;

use super::handler::Handler;
use super::progress::Progress;
use super::session::Ticket;
use super::{late, result, tools};
use crate::broker::CapabilityInfo;
use crate::gateway::calls::{Call, NewCall, Outcome, Step};
use caphost::call::Stop;

/// Calls a capability and waits for its end, telling the client of its progress if it asked to be.
///
/// When the client cancels, the app is asked to cancel, and what this returns is not sent.
pub async fn run(
    handler: &Handler,
    capability: &CapabilityInfo,
    arguments: Option<JsonObject>,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let ticket = context.extensions.get::<Ticket>();
    let request_id = ticket.map_or(&context.id, |ticket| &ticket.id).to_string();
    let mut progress = context.meta.get_progress_token().map(Progress::new);
    let call = NewCall {
        capability: capability.name.clone(),
        params: Some(Value::Object(arguments.unwrap_or_default())),
        dialect_id: Some(request_id.clone()),
        thread: ticket.map(|ticket| ticket.thread.to_string()),
        progress: progress.is_some(),
        ..NewCall::default()
    };
    let mut stateless = None;
    let mut call = match ticket {
        Some(_) => handler.session(context.client_info()).call(call),
        // Kept until the call has ended.
        None => stateless
            .insert(handler.stateless.session(&handler.caller))
            .call(call),
    };

    let tell = |info: &Value, progress: &mut Option<Progress>| {
        let said = progress.as_mut()?.read(info)?;
        let peer = context.peer.clone();
        Some(async move { peer.notify_progress(said).await }.boxed())
    };
    let mut telling: Option<BoxFuture<'_, Result<(), ServiceError>>> = None;
    // What came while the last was still being told: a client that is slow gets the latest.
    let mut waiting: Option<Value> = None;
    let outcome = loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => {
                let reason = reason(ticket.map(|ticket| &ticket.reason));
                // On its way to the app at once; how the call ends is for the record only.
                drop(call.canceller().cancel(Some(reason)));
                let stop = ended(&mut call).await;
                follow(handler, call, stop, &context);
                return Err(result::cancelled(&capability.name, &request_id, stop));
            }
            told = told(&mut telling), if telling.is_some() => {
                if let Err(error) = told {
                    tracing::debug!(%error, "progress not told");
                }
                telling = waiting.take().and_then(|info| tell(&info, &mut progress));
            }
            step = call.next() => match step {
                Step::Ended(outcome) => break outcome,
                Step::Progress(info) if telling.is_none() => telling = tell(&info, &mut progress),
                Step::Progress(info) => waiting = Some(info),
            }
        }
    };
    // The answer comes after the progress that came before it.
    if let Some(told) = telling {
        tokio::select! {
            () = context.ct.cancelled() => {}
            _ = told => {}
        }
    }
    let run = call.id;
    match outcome {
        Outcome::Done { data, metadata } => {
            let promised = tools::output_schema(capability).is_some();
            Ok(result::done(data, metadata, promised, run))
        }
        Outcome::Failed(error) => Ok(result::failed(&error, Some(run))),
        Outcome::Cancelled { stop, .. } => {
            follow(handler, call, stop, &context);
            Err(result::cancelled(&capability.name, &request_id, stop))
        }
    }
}

/// Waits for the end of a call whose caller waits no longer: how far its stop was seen, if it was
/// cancelled.
async fn ended(call: &mut Call) -> Stop {
    loop {
        match call.next().await {
            Step::Ended(Outcome::Cancelled { stop, .. }) => return stop,
            // Nobody is told of it.
            Step::Ended(_) => return Stop::Returned,
            Step::Progress(_) => {}
        }
    }
}

/// Tells the client when the work of an abandoned call ends after all.
fn follow(handler: &Handler, call: Call, stop: Stop, context: &RequestContext<RoleServer>) {
    if stop != Stop::Abandoned {
        return;
    }
    let ticket = context.extensions.get::<Ticket>();
    let request_id = ticket.map_or(&context.id, |ticket| &ticket.id).clone();
    let told = late::Told {
        peer: context.peer.clone(),
        level: handler.log_level.clone(),
        ended: handler.ended.clone(),
    };
    tokio::spawn(late::tell(told, request_id, call));
}

async fn told(
    telling: &mut Option<BoxFuture<'_, Result<(), ServiceError>>>,
) -> Result<(), ServiceError> {
    let result = match telling {
        Some(telling) => telling.await,
        None => Ok(()),
    };
    *telling = None;
    result
}

fn reason(given: Option<&Arc<OnceLock<String>>>) -> String {
    let given = given.map(|given| given.get().cloned());
    match given {
        Some(Some(reason)) => reason,
        Some(None) => "The client cancelled the request".into(),
        None => "The response stream was closed".into(),
    }
}
