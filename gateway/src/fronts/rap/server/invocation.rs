//! `POST {base}/invoke` begins a call. The result goes to the callback URL.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::calls::{Denied, Name};
use super::claims::fingerprint;
use super::pending::{Pending, Room};
use super::request::{Target, parse, read};
use super::result::Body;
use super::state::RapServer;
use super::toolset;
use crate::bounds::{Budget, Full, QuotaKey};
use crate::broker::Assortment;
use crate::fronts::auth::Bearer;
use crate::fronts::coerce::coerced;
use crate::fronts::rap::names::MAX_IDENTIFIER_CHARS;
use crate::fronts::rap::wire::Invocation;
use crate::fronts::refusal::Refusal;
use crate::gateway::calls::NewCall;
use crate::gateway::{AbpError, Outcome};
use crate::limits::MAX_DEPTH;
use crate::tokens::Identity;
use crate::wire::clipped;
use caphost::call::{Code, Error};

/// How many ancestor threads an invocation may name.
const MAX_ANCESTORS: usize = 256;
/// How many bytes a callback URL may have: 8 KiB. The URL is kept and logged.
const MAX_URL_BYTES: usize = 8 << 10;
/// How many characters of tool names the error for an unknown tool lists.
const TOLD_CHARS: usize = 1_000;

/// Accepts an invocation. A mistake in the message is answered with a 4xx. A mistake in the call becomes its
/// result.
pub(super) async fn invoke(
    State(server): State<Arc<RapServer>>,
    target: Target,
    bearer: Bearer,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (parts, body) = request.into_parts();
    let (caller, app) = server.admit(target, &bearer)?;
    let bytes = read(&parts, body, server.hub.limits.message_bytes).await?;
    // The arguments are one level deeper in the message to the app.
    let depth = server.hub.limits.depth.min(MAX_DEPTH).saturating_sub(1);
    let invocation = parse(&bytes, depth)?;
    server.check(&invocation)?;
    let room = server.admit_invocation(&caller, bytes.len())?;
    // The work goes on if the connection breaks, because the runtime may send the invocation to another
    // worker.
    let accepting = async move {
        server
            .accept(caller, app.as_deref(), invocation, room)
            .await
    };
    let accepted = tokio::spawn(accepting).await;
    accepted.map_err(|_| later("The gateway stops".into()))??;
    Ok(StatusCode::OK)
}

fn later(message: String) -> Refusal {
    let wait = Duration::from_secs(1);
    Refusal::later(StatusCode::SERVICE_UNAVAILABLE, message, wait)
}

impl RapServer {
    /// Takes room for another invocation of `caller` with `bytes` bytes.
    fn admit_invocation(&self, caller: &Identity, bytes: usize) -> Result<Room, Refusal> {
        let quota_key = QuotaKey::Token(caller.name.clone());
        let take = |room: &Arc<Budget>, amount, what: &str| {
            let taken = room.take(&quota_key, amount);
            taken.map_err(|full| match full {
                Full::All(most) => later(format!("{what}: at most {most} are allowed")),
                Full::Share(share) | Full::Last(share) => {
                    let message = format!("{what}: at most {share} are allowed for one token");
                    let wait = Duration::from_secs(1);
                    Refusal::later(StatusCode::TOO_MANY_REQUESTS, message, wait)
                }
            })
        };
        let what = "Too many invocations wait for their results to be delivered";
        let place = take(&self.pending, 1, what)?;
        let what = "The invocations in flight have too many bytes";
        let bytes = take(&self.invoked_bytes, bytes, what)?;
        Ok([place, bytes])
    }

    fn check(&self, invocation: &Invocation) -> Result<(), Refusal> {
        let texts = [
            ("operation", Some(&invocation.operation)),
            ("call_id", invocation.call_id.as_ref()),
            ("user_id", invocation.user_id.as_ref()),
        ];
        for (name, text) in texts {
            let text = text.map_or("", String::as_str);
            if text.chars().count() > MAX_IDENTIFIER_CHARS || text.chars().any(char::is_control) {
                let message = format!(
                    "`{name}` must have at most {MAX_IDENTIFIER_CHARS} characters, none of them a control character"
                );
                return Err(Refusal::invalid(message));
            }
        }
        if invocation.operation.is_empty() {
            return Err(Refusal::invalid("`operation` must not be empty"));
        }
        let ancestors = invocation.thread_ancestors.as_ref().map_or(0, Vec::len);
        if ancestors > MAX_ANCESTORS {
            return Err(Refusal::invalid(format!(
                "`thread_ancestors` must have at most {MAX_ANCESTORS} ids"
            )));
        }
        let url = &invocation.callback_url;
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(Refusal::invalid(format!(
                "`callback_url` must have at most {MAX_URL_BYTES} bytes"
            )));
        }
        if !self.clients.egress.admits(url) {
            return Err(Refusal::forbidden(
                "Results are not sent to the host of `callback_url`: see --rap-callback-allow",
            ));
        }
        Ok(())
    }

    async fn accept(
        self: &Arc<Self>,
        owner: Identity,
        app: Option<&str>,
        mut invocation: Invocation,
        room: Room,
    ) -> Result<(), Refusal> {
        let tool = self.tool(app, &owner, &mut invocation);
        let id = invocation.id.clone();
        let pending = Pending::new(self.clone(), owner, invocation, room);
        let begun = match tool {
            Ok((app, capability)) => self.begin(pending, app, capability).await,
            Err(error) => {
                let error = Body::of(Outcome::Failed(error));
                tokio::spawn(
                    async move { pending.deliver(error, &CancellationToken::new()).await },
                );
                return Ok(());
            }
        };
        match begun {
            Ok(()) | Err(Denied::Again) => Ok(()),
            Err(Denied::Taken) => {
                let message =
                    format!("Another tool call with the id {id:?} is in flight in that thread");
                let error = Error::invalid_params(message);
                Err(Refusal::new(StatusCode::CONFLICT, error))
            }
            Err(Denied::Unsure) => Err(later("Another worker may have this call: retry".into())),
        }
    }

    /// Begins the call of an invocation, unless a call with that name exists.
    async fn begin(
        &self,
        mut pending: Pending,
        app: String,
        capability: String,
    ) -> Result<(), Denied> {
        let Invocation { id, group_id, .. } = &pending.invocation;
        let name = Name {
            id: id.clone(),
            app,
            owner: pending.owner.clone(),
            ended: None,
            fingerprint: fingerprint(&pending.invocation),
        };
        let request = self.threads.begin(group_id, &name).await?;
        let claim = self.claim(group_id, &name).await?;
        let (dialect_id, thread) = (id.to_string(), group_id.to_string());
        let session = self
            .sessions
            .session(&name.owner, Some(&name.app), Some(&thread));
        let arguments = pending.invocation.arguments.take();
        let params = arguments.map_or("{}".into(), Box::<str>::from);
        let call = session.call(NewCall {
            capability,
            params: Some(params.into_string().into()),
            timeout: Some(self.options.call_timeout),
            dialect_id: Some(dialect_id),
            thread: Some(thread),
            ..NewCall::default()
        });
        request.becomes(&call);
        tokio::spawn(pending.see_through(call, session, request, claim));
        Ok(())
    }

    /// The app and the capability of a tool. Reads the arguments as the tool wants them, if this server does.
    fn tool(
        &self,
        app: Option<&str>,
        owner: &Identity,
        invocation: &mut Invocation,
    ) -> Result<(String, String), AbpError> {
        let all = self.hub.assortment(app);
        let all = all.map_err(|error| AbpError::from(&error))?;
        let name = &invocation.operation;
        let found = toolset::find(&all, name);
        let (offer, capability) = found.ok_or_else(|| {
            let is_meant = app.is_none() && all.named(name).next().is_none();
            let gone = is_meant.then(|| self.hub.departed(name, owner)).flatten();
            gone.map_or_else(|| unknown_tool(name, &all), |gone| AbpError::from(&gone))
        })?;
        if let Some(given) = invocation
            .arguments
            .as_ref()
            .filter(|_| self.options.coerce)
        {
            let schema = capability.input_schema.as_deref();
            let read = coerced(given.get(), schema, self.hub.limits.depth);
            let read = read.map_err(|error| AbpError::from(&error))?.into_owned();
            invocation.arguments = RawValue::from_string(read).ok();
        }
        // The caller may have named a tab of the app.
        let app = app.unwrap_or(&offer.app.id);
        Ok((app.into(), capability.name.clone()))
    }
}

fn unknown_tool(operation: &str, all: &Assortment) -> AbpError {
    // No name is empty, so this many characters hold at most as many names.
    let names = toolset::first_names(all, TOLD_CHARS).join(", ");
    let told = clipped(&names, TOLD_CHARS);
    AbpError::new(
        Code::UNKNOWN_CAPABILITY,
        format!("No tool {operation:?}: there are {told}"),
    )
}
