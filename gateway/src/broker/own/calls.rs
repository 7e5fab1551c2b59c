//! One call of the gateway itself, from its start to its end.

use super::{OwnSession, Phase};
use crate::broker::call::NewSession;
use crate::broker::calls::{Live, NewCall, Reply, RunId};
use crate::broker::end::SLACK_MS;
use crate::broker::requests::About;
use crate::broker::{Broker, PeerId, Wanted};
use crate::wire::{Failure, Request};

impl Broker {
    /// Makes a call: registers its run, and opens the session if it is not open.
    pub(in crate::broker) fn own_call(
        &mut self,
        session: PeerId,
        client: &NewSession,
        call: NewCall<'_>,
    ) {
        let run = call.run;
        let app = match &client.app {
            Wanted::Id(app) => Some(app.as_str().into()),
            Wanted::Any | Wanted::Peer(_) => None,
        };
        let new = call.run_of(&client.profile, app, (&*call.capability).into());
        let live = Live::new(session, call.token, call.request);
        let ended = self.calls.enter(new, live, call.sink, self.now.unix_ms);
        if ended.is_some() {
            return;
        }
        match self.own_session(session) {
            Some(OwnSession {
                phase: Phase::Opening(calls),
                ..
            }) => calls.push(run),
            Some(_) => self.send_own(session, run),
            None => self.open_own(session, client, run),
        }
    }

    /// Sends a call in its open session.
    pub(super) fn send_own(&mut self, session: PeerId, run: RunId) {
        let request = self.calls.change(run, |call| call.request.take());
        let Some(call) = request.flatten() else {
            return;
        };
        let sent = self.own_request(
            session,
            Request::Call,
            &call.payload,
            About::OwnCall(run, &call),
        );
        if let Err(error) = sent {
            return self.fail_own(run, error);
        }
        let slack = SLACK_MS.min(self.grace());
        let until = call.timeout.map(|it| self.now.monotonic_ms + it + slack);
        self.calls.change(run, |call| call.timeout = until);
    }

    pub(super) fn fail_own(&mut self, run: RunId, error: Failure) {
        let reply = Reply::Failed(error);
        self.end_run(run, reply.ending(), || Some(reply));
    }
}
