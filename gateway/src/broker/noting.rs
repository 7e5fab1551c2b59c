//! What a request on its way to an app means for the runs: a call begins one, a cancel is for one.

use super::calls::{Live, NewCall, RunId};
use super::message::Cancel;
use super::requests::{About, Unsent};
use super::{Broker, PeerId};
use crate::wire::{Failure, invalid_at};
use caphost::call::{CallId, MAX_CALL_ID_CHARS};

impl Broker {
    /// Notes a request of `peer` that goes to `app` next under that number. Returns the run of the request.
    pub(super) fn note(
        &mut self,
        peer: PeerId,
        app: PeerId,
        issued: u64,
        about: &About<'_>,
    ) -> Result<Option<RunId>, Unsent> {
        match about {
            About::Nothing => Ok(None),
            About::Cancel(cancel) => self.note_cancel(peer, cancel),
            About::Call(call) => self.note_call(peer, app, issued, call),
            About::Entered(run, _) => self.note_entered(peer, app, issued, *run),
        }
    }

    /// Notes an agent's call, and registers its run.
    fn note_call(
        &mut self,
        peer: PeerId,
        app: PeerId,
        issued: u64,
        call: &NewCall<'_>,
    ) -> Result<Option<RunId>, Unsent> {
        // The worker of an agent keeps the agent's runs.
        let agent = self.sessions.get_mut(&peer).filter(|agent| agent.is_here());
        let Some(agent) = agent else {
            return Ok(None);
        };
        check_call_id(&call.call_id)?;
        if self.calls.has_used(peer, &call.call_id) {
            return Err(used_before().into());
        }
        let capability = agent.name_of(&call.capability);
        let app_id = self.apps.get(&app).and_then(|app| app.id.clone());
        let new = call.run_of(&agent.profile, app_id, capability);
        let live = Live::new(peer, call.token.clone(), None);
        let ended = self.calls.enter(new, live, None, self.now.unix_ms);
        if ended.is_some() {
            self.calls.remember_of(peer, call.call_id.clone(), call.run);
        }
        self.begin(app, call.run, issued)
    }

    /// Notes the call of a registered run.
    fn note_entered(
        &mut self,
        peer: PeerId,
        app: PeerId,
        issued: u64,
        run: RunId,
    ) -> Result<Option<RunId>, Unsent> {
        let call = self.calls.get(run).ok_or(Unsent::Skipped)?;
        if self.calls.has_used(peer, &call.call_id) {
            return Err(used_before().into());
        }
        self.begin(app, run, issued)
    }

    /// Sends a run to its app, unless the run is already over.
    fn begin(&mut self, app: PeerId, run: RunId, issued: u64) -> Result<Option<RunId>, Unsent> {
        let app_id = self.apps.get(&app).and_then(|app| app.id.clone());
        match self.calls.sent(run, app_id, issued) {
            true => Ok(Some(run)),
            false => Err(Unsent::Skipped),
        }
    }

    /// Notes an agent's cancel of a call that is not live. Returns the run that its answer may settle.
    fn note_cancel(&self, peer: PeerId, cancel: &Cancel<'_>) -> Result<Option<RunId>, Unsent> {
        let call_id = cancel.call_id.as_deref().unwrap_or_default();
        check_call_id(call_id)?;
        let known = self.calls.of(peer, call_id);
        Ok(known.filter(|run| self.is_unknown(*run)))
    }
}

/// Refuses a callId that no page would take, because the callId is the key for everything that the gateway
/// keeps of a call.
fn check_call_id(text: &str) -> Result<(), Failure> {
    let checked = CallId::parse(text);
    checked.map(drop).map_err(|_| {
        let message =
            format!("Bad callId: it is a string of 1 to {MAX_CALL_ID_CHARS} printable characters");
        invalid_at("callId", message)
    })
}

fn used_before() -> Failure {
    invalid_at("options.callId", "The callId was used before")
}
