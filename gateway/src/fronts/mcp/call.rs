//! A `tools/call`, in a session or without one.

use std::sync::Arc;

use axum::response::Response;

use super::calling::Tool;
use super::listening::whole;
use super::request::Request;
use super::result::{ToolResult, answer};
use super::session::{Caller, NotTaken, Session};
use super::underway::{Member, Underway};
use crate::fronts::shared_sessions::InUse;
use crate::fronts::shares::Share;
use crate::gateway::Hub;

/// Answers a call in a session.
pub async fn in_session(
    hub: &Arc<Hub>,
    session: &Arc<Session>,
    request: Request<'_>,
    share: Share,
) -> Result<Response, NotTaken> {
    let tool = match Tool::find(hub, &session.caller, session.app(hub), &request) {
        Ok(tool) => tool,
        Err(ended) => {
            session.take(&request.id)?;
            return Ok(whole(Some(&answer(&request.id, ended))));
        }
    };
    let id = request.id;
    let thread = Some(session.thread.to_string());
    let begun = session.begin(hub, &id, |page| {
        let calling = tool.call(&id, thread, |new| page.call(new));
        let canceller = calling.canceller();
        (calling, canceller)
    });
    let (number, given_up, calling) = begun?;
    let underway = Underway {
        id,
        member: Some(Member {
            session: session.clone(),
            number,
            given_up,
        }),
        calling: Some(calling),
    };
    Ok(underway.respond(share).await)
}

/// Answers a call without a session, which is made in the session of the app that its caller's share.
pub async fn alone(
    hub: &Arc<Hub>,
    caller: &Caller,
    in_use: impl FnOnce() -> InUse,
    request: Request<'_>,
    share: Share,
) -> Response {
    let tool = match Tool::find(hub, caller, caller.app.as_deref(), &request) {
        Ok(tool) => tool,
        Err(ended) => return whole(Some(&answer(&request.id, ended.map(ToolResult::complete)))),
    };
    let (id, in_use) = (request.id, in_use());
    let mut calling = tool.call(&id, None, |new| in_use.call(new));
    calling.in_use = Some(in_use);
    let underway = Underway {
        id,
        member: None,
        calling: Some(calling),
    };
    underway.respond(share).await
}
