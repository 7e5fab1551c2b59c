//! A `tools/call`, with or without a session: the tool that is meant, and the call.

use std::sync::Arc;

use axum::response::Response;

use super::caller::Caller;
use super::head::Accepted;
use super::links::Links;
use super::parked::Asks;
use super::progress::Progress;
use super::reply::whole;
use super::request::Request;
use super::result::{self, Ended, ToolResult, answer};
use super::session::{McpSession, NotTaken};
use super::tasks::Becoming;
use super::tool::Tool;
use super::tools;
use super::underway::{Underway, Within};
use crate::bounds::Permit;
use crate::fronts::coerce::coerced;
use crate::fronts::shared_sessions::InUse;
use crate::gateway::calls::NewCall;
use crate::gateway::{AbpError, Hub};
use crate::wire::json_rpc::{RpcError, code};
use caphost::dialect::mcp::{STATELESS, Version};

/// Answers a call in a session.
pub async fn in_session(
    hub: &Arc<Hub>,
    session: &Arc<McpSession>,
    (request, links): (Request<'_>, Links),
    (share, accepted): (Permit, Accepted),
) -> Result<Response, NotTaken> {
    let version = session.version;
    let (tool, call) = match find(hub, &session.caller, &request, (version, links)) {
        Ok(found) => found,
        Err(ended) => {
            session.take(&request.id)?;
            return Ok(whole(Some(&answer(&request.id, ended)), accepted));
        }
    };
    let call = NewCall {
        thread: Some(session.number.to_string()),
        ..call
    };
    let (request, call) = session.begin(hub, &request.id, tool.app(&session.caller), call)?;
    let id = request.id.clone();
    let session = session.clone();
    let within = Within::Session { session, request };
    let underway = Underway::new(id, tool, call, within);
    Ok(underway.respond(share, accepted).await)
}

/// Answers a call without a session. All such calls of one caller to one app share a session of the app, which
/// `in_use` gives.
pub async fn alone(
    hub: &Arc<Hub>,
    caller: &Caller,
    (in_use, asks, becoming): (impl FnOnce(&str) -> InUse, Option<Asks<Underway>>, Becoming),
    (request, links): (Request<'_>, Links),
    (share, accepted): (Permit, Accepted),
) -> Response {
    let (tool, call) = match find(hub, caller, &request, (&STATELESS, links)) {
        Ok(found) => found,
        Err(ended) => {
            let ended = ended.map(ToolResult::complete);
            return whole(Some(&answer(&request.id, ended)), accepted);
        }
    };
    let in_use = in_use(tool.app(caller));
    let call = in_use.call(call);
    let within = Within::Shared {
        in_use,
        asks,
        becoming,
    };
    let underway = Underway::new(request.id, tool, call, within);
    underway.respond(share, accepted).await
}

/// Finds the tool that the client means, and prepares the call. The error ends the call.
pub(super) fn find(
    hub: &Hub,
    caller: &Caller,
    request: &Request<'_>,
    (version, links): (&'static Version, Links),
) -> Result<(Tool, NewCall), Ended> {
    let (Some(name), Ok(arguments)) = (request.name(), request.arguments(caller.coerce)) else {
        let message = "Invalid parameters for tools/call";
        return Err(Err(RpcError::new(code::INVALID_PARAMS, message)));
    };
    let all = tools::offered(hub, caller)?;
    let (offer, tool) = tools::find(&all, caller.tools.as_ref(), &name)
        .map_err(|unknown| tools::departed(hub, caller, &all, &name).unwrap_or(Err(unknown)))?;
    let called = name.into_owned();
    let name = tool.name.clone();
    let params = match caller.coerce {
        true => {
            let schema = tool.input_schema.as_deref();
            let read = coerced(&arguments, schema, hub.limits.depth);
            read.map_err(|error| Ok(result::failed(&AbpError::from(&error), None)))?
        }
        false => arguments,
    };
    let progress = request.progress_token();
    let progress = progress.map(|token| Progress::new(token, version));
    let call = NewCall {
        capability: name.clone(),
        params: Some(params.into_owned().into()),
        dialect_id: Some(request.id.plain()),
        // A task says how far its call is.
        progress: progress.is_some() || request.takes_tasks(),
        ..NewCall::default()
    };
    let tool = Tool {
        offer: offer.clone(),
        name,
        called,
        progress,
        version,
        links,
    };
    Ok((tool, call))
}
