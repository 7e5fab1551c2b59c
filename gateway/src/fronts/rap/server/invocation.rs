//! `POST {base}/invoke`: a call begins, and its result goes to the callback URL.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::Value;

use super::body::{parse, read};
use super::claims::{Claimed, Name, fingerprint};
use super::pending::{Pending, Room};
use super::target::Target;
use super::threads::{Begun, Thread};
use super::toolset::Tools;
use super::{RapServer, take};
use crate::broker::runs::Dialect;
use crate::fronts::rap::names::{Identifier, MAX_IDENTIFIER_CHARS};
use crate::fronts::rap::wire::Invocation;
use crate::fronts::refusal::Refusal;
use crate::gateway::calls::{AbpError, Client, NewCall};
use crate::tokens::Identity;
use caphost::call::{Code, Error};

/// How many threads above its own an invocation may name.
const MAX_ANCESTORS: usize = 256;
/// How many characters of tool names are told when a tool is unknown.
const TOLD_CHARS: usize = 1_000;

/// Takes an invocation. What is wrong with the message is answered with a 4xx; what is wrong with
/// the call comes as its result.
pub(super) async fn invoke(
    State(server): State<Arc<RapServer>>,
    target: Target,
    request: Request,
) -> Result<StatusCode, Refusal> {
    let (parts, body) = request.into_parts();
    let (caller, app) = server.admit(target, &parts.headers, parts.uri.query())?;
    let bytes = read(&parts.headers, body, server.hub.limits.message_bytes).await?;
    let invocation = parse(&bytes)?;
    server.check(&invocation)?;
    let room = server.room(bytes.len())?;
    // What has begun goes on if the connection breaks: the runtime may send it to another worker.
    let accepting = async move {
        server
            .accept(&caller, app.as_deref(), invocation, room)
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
    /// Room for one more invocation, of so many bytes.
    fn room(&self, bytes: usize) -> Result<Room, Refusal> {
        let place = self.pending.clone().try_acquire_owned().map_err(|_| {
            let max = self.options.max_pending;
            later(format!(
                "{max} invocations wait for their results to be delivered"
            ))
        })?;
        let bytes = take(&self.invoked_bytes, bytes).ok_or_else(|| {
            let max = self.options.max_pending_bytes;
            later(format!("The invocations in flight have {max} bytes"))
        })?;
        Ok(Room {
            _place: place,
            _bytes: bytes,
        })
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
        if invocation.thread_ancestors.len() > MAX_ANCESTORS {
            return Err(Refusal::invalid(format!(
                "`thread_ancestors` must have at most {MAX_ANCESTORS} ids"
            )));
        }
        let allowed = &self.options.callback_allow;
        if !allowed.is_empty()
            && !allowed
                .iter()
                .any(|host| host.covers(&invocation.callback_url))
        {
            return Err(Refusal::forbidden(
                "Results are not sent to the host of `callback_url`: see --rap-callback-allow",
            ));
        }
        Ok(())
    }

    async fn accept(
        self: &Arc<Self>,
        caller: &Identity,
        app: Option<&str>,
        invocation: Invocation,
        room: Room,
    ) -> Result<(), Refusal> {
        let fingerprint = fingerprint(&invocation);
        let pending = Pending::new(self.clone(), &invocation, room);
        let (app, capability) = match self.tool(app, &invocation.operation) {
            Ok(tool) => tool,
            Err(error) => {
                tokio::spawn(pending.fail(error));
                return Ok(());
            }
        };
        let Invocation {
            arguments,
            id,
            group_id,
            ..
        } = invocation;
        let taken = || {
            let message =
                format!("Another tool call with the id {id:?} is in flight in that thread");
            Refusal::new(StatusCode::CONFLICT, Error::invalid_params(message))
        };
        let name = Name::of(caller, &app, &group_id, &id);
        let claim = match self.claims.claim(name, fingerprint).await {
            Claimed::Here(claim) => claim,
            Claimed::Again => return Ok(()),
            Claimed::Taken => return Err(taken()),
            Claimed::Unsure => {
                let message = "Whether another worker has it will be known soon";
                return Err(later(message.into()));
            }
        };
        let mut params = Some(Value::Object(arguments));
        loop {
            let thread = self.thread(&group_id, &app, caller);
            let call = || NewCall {
                capability: capability.clone(),
                params: params.take(),
                timeout: Some(self.options.call_timeout),
                dialect_id: Some(id.to_string()),
                thread: Some(group_id.to_string()),
                ..NewCall::default()
            };
            match thread.begin(&id, fingerprint, call) {
                Begun::New(call) => {
                    tokio::spawn(pending.see_through(thread, call, claim));
                    return Ok(());
                }
                Begun::Again => return Ok(()),
                Begun::Taken => return Err(taken()),
                Begun::Over => self.threads.forget(&group_id, &thread),
            }
        }
    }

    /// The app and the capability that a tool stands for.
    fn tool(&self, app: Option<&str>, name: &str) -> Result<(String, String), AbpError> {
        let tools = self.catalogue.tools(&self.hub, app);
        let tools = tools.map_err(|error| AbpError::from(&error))?;
        match tools.capability(name) {
            Some(capability) => Ok((tools.app.clone(), capability.to_string())),
            None => Err(unknown_tool(name, &tools)),
        }
    }

    /// The thread of that id, with a session on the app.
    fn thread(&self, id: &Identifier, app: &str, caller: &Identity) -> Arc<Thread> {
        self.threads.enter(id, app, caller, || {
            self.hub.open(Client {
                dialect: Dialect::Rap,
                owner: caller.clone(),
                app: Some(app.to_string()),
                name: "caphost RAP".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            })
        })
    }
}

fn unknown_tool(operation: &str, tools: &Tools) -> AbpError {
    let names = tools.names().collect::<Vec<_>>().join(", ");
    let told: String = names.chars().take(TOLD_CHARS).collect();
    AbpError::new(
        Code::UNKNOWN_CAPABILITY,
        format!("No tool {operation:?}: there are {told}"),
    )
}
