//! The broker: it passes agents' requests on to apps, and the answers back.
//!
//! A state machine without sockets, timers or clocks. [`Broker::handle`] takes an [`Event`] and the time;
//! [`Broker::next_action`] gives the actions, in order. The messages to one peer keep the order of the
//! actions, so an app's `cancel-result` reaches its agent before the `call-result` that follows.

mod agent_messages;
mod amount;
mod answers;
mod app_messages;
mod apps;
mod backlog;
pub mod calls;
mod cancel;
mod close;
mod deadlines;
mod end;
mod event;
mod internal;
mod message;
mod noting;
mod peer;
mod port;
mod registration;
mod requests;
mod sessions;
mod stops;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

pub use apps::assortment::{AppTool, Assortment, Lookup, without_prefix};
pub use apps::capability_info::{CapabilityInfo, plain};
pub use apps::instance::Instance;
pub use apps::instances::{ConnectedApp, Listed};
pub use apps::offer::{AppInfo, MAX_NAME_CHARS, Offer};
pub use apps::offering::DIFFERENCES;
pub use apps::offers::Offered;
#[cfg(test)]
pub(crate) use apps::questions::{QUESTION_BYTES, QUESTIONS};
pub use backlog::{Backlog, Waiting};
pub use calls::outcome::{CancelOutcome, Outcome};
pub(crate) use calls::outcome::{STOPPING, unconfirmed};
pub use calls::{AbpError, Asker, CallEvent, CallRequest, NewCall};
pub(crate) use calls::{Steps, steps};
pub use event::{Action, Event};
pub use internal::NewSession;
pub use message::Message;
pub use peer::{CloseCode, Now, PeerId, Profile, Seat, Wanted};
pub use port::{Ask, FromApp, Start, ToApp};

use smallvec::SmallVec;

use crate::broker::calls::{Calls, RunId};
use crate::broker::sessions::pending::read_issued;
use crate::limits::Limits;
use crate::tokens::{Identity, Tokens};
use crate::wire::{Failure, Header, Outgoing, Subject, failed};
pub use apps::Apps;
pub use sessions::Sessions;

/// Events that nobody is told of, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Answers of apps to no pending request: late, repeated, or never asked for.
    pub answers_dropped: u64,
    /// Messages of apps to agents that are gone.
    pub strays_dropped: u64,
    /// Refused messages of agents and apps.
    pub refused: u64,
    /// Requests passed on to apps.
    pub relayed: u64,
}

/// The broker.
pub struct Broker {
    limits: Limits,
    tokens: Tokens,
    apps: Apps,
    calls: Calls,
    sessions: Sessions,
    counters: Counters,
    waiting: Waiting,
    issued: u64,
    actions: VecDeque<Action>,
    now: Now,
    timestamp: String,
}

impl Broker {
    /// A broker without peers.
    pub fn new(limits: Limits, tokens: Tokens) -> Self {
        Broker {
            calls: Calls::new(limits.retention),
            sessions: Sessions::new(limits.sessions),
            limits,
            tokens,
            apps: Apps::default(),
            counters: Counters::default(),
            waiting: Waiting::default(),
            issued: 0,
            actions: VecDeque::new(),
            now: Now::default(),
            timestamp: String::new(),
        }
    }

    /// Handles an event at time `now`.
    pub fn handle(&mut self, event: Event<'_>, now: Now) {
        if self.now.unix_ms != now.unix_ms || self.timestamp.is_empty() {
            self.timestamp.clear();
            let _ = write!(self.timestamp, "{}", now.unix_ms);
        }
        self.now = now;
        match event {
            Event::AgentJoined { peer, app, profile } => self.agent_joined(peer, app, profile),
            Event::AppJoined {
                peer,
                identity,
                seat,
            } => self.app_joined(peer, identity, seat),
            Event::Message { peer, message } => match self.sessions.is_agent(peer) {
                true => self.agent_message(peer, message),
                false => self.app_message(peer, message),
            },
            Event::Said {
                app,
                agent,
                message,
            } => self.inside_said(app, agent, message),
            Event::Call {
                session,
                client,
                call,
            } => self.internal_call(session, client, *call),
            Event::Cancel { run, asker, reason } => self.cancel(run, asker, reason.as_deref()),
            Event::Answer {
                run,
                question,
                payload,
            } => self.internal_answer(run, question, payload),
            Event::Left { session } => self.internal_left(session),
            Event::Deadline => self.deadline(),
            Event::Refused { peer, refusal } if self.sessions.is_agent(peer) => {
                self.refuse(peer, &refusal.subject, &refusal.error);
            }
            Event::Refused { peer, refusal } => self.app_refused(peer, *refusal),
            Event::Backlog { peer, backlog } => {
                if let Some(app) = self.apps.get_mut(&peer) {
                    app.backlog = backlog;
                    if backlog == Backlog::Short {
                        app.load.forget_left();
                    }
                }
            }
            Event::Suspended { peer, suspended } => {
                let since = suspended.then(|| self.issue());
                if let Some(app) = self.apps.get_mut(&peer) {
                    app.suspended = since;
                }
            }
            Event::RegisterTimeout { peer } => self.register_timeout(peer),
            Event::Gone { peer } => self.gone(peer),
            Event::Emptied { peer } => self.emptied(peer),
            Event::AgentLost { app, agent } => self.agent_lost(app, &agent),
            Event::AppDraining { peer } => self.app_draining(peer),
            Event::Drain => self.apps.stop(),
            Event::Shutdown => self.shutdown(),
        }
    }

    /// The next action.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The counted events that nobody is told of.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The record of calls.
    pub fn runs(&self) -> &Calls {
        &self.calls
    }

    /// The record of calls, for changes that the broker does not see.
    pub fn runs_mut(&mut self) -> &mut Calls {
        &mut self.calls
    }

    /// The connected apps.
    pub fn apps(&self) -> &Apps {
        &self.apps
    }

    /// The agents.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The connected apps that `viewer` may reach, by id.
    pub fn connected(&self, viewer: &Identity) -> Vec<ConnectedApp> {
        self.apps.connected(viewer, &self.sessions)
    }

    /// The apps that have come, left, or changed their offers since the last call of this function.
    pub fn take_offered(&mut self) -> SmallVec<[Offered; 1]> {
        self.apps.take_offered()
    }

    /// Sets whether apps of other workers may exist that are not known. Agents that ask for such an app are
    /// told so.
    pub fn set_cut_off(&mut self, cut_off: bool) {
        self.apps.cut_off = cut_off;
    }

    /// Requests and questions that wait for an answer.
    pub fn in_flight(&self) -> usize {
        let questions = self
            .sessions
            .all
            .values()
            .map(|agent| agent.questions.len());
        self.sessions.requests_in_flight() + questions.sum::<usize>()
    }

    /// The name of a peer's owner, if known.
    pub fn owner_of(&self, peer: PeerId) -> Option<&Arc<str>> {
        let agent = self.sessions.get(&peer).map(|agent| &agent.profile.owner);
        let app = || self.apps.get(&peer)?.identity.as_ref();
        agent.or_else(app).map(|owner| &owner.name)
    }

    /// The owner whose share of the sessions an agent of an app counts towards.
    pub fn quota_key_on(&self, app: PeerId, agent: &str) -> Option<Arc<str>> {
        let agent = self.apps.get(&app)?.agents.get(agent)?;
        Some(self.sessions.get(agent)?.profile.quota_key.clone())
    }

    /// Whether that agent is here and has not left.
    pub fn has_agent(&self, agent: PeerId) -> bool {
        self.sessions.is_agent(agent)
    }

    /// The agent whose call the app answers under that id, its profile, and whether it has a connection of its
    /// own. `None` if nobody here waits for the answer.
    pub fn caller_of(
        &self,
        app: PeerId,
        agent: &str,
        id: &str,
    ) -> Option<(PeerId, &Profile, bool)> {
        let peer = *self.apps.get(&app)?.agents.get(agent)?;
        let agent = self.sessions.get(&peer)?;
        let waits = agent.pending.is_call(read_issued(id)?) && agent.is_here() && !agent.left;
        waits.then(|| (peer, &agent.profile, agent.is_connected()))
    }

    /// The app of an agent, if it has one.
    pub fn app_of(&self, agent: PeerId) -> Option<PeerId> {
        self.sessions.get(&agent)?.app
    }

    /// The runs that an app is working on.
    pub fn runs_on(&self, app: PeerId) -> Vec<RunId> {
        let app = self.apps.get(&app);
        let agents = app.into_iter().flat_map(|app| app.agents.values());
        agents.flat_map(|it| self.calls.all_of(*it)).collect()
    }

    /// How many agents there are, connected or of the gateway itself, and how many connected apps. Peers of
    /// other workers do not count.
    pub fn peers(&self) -> (usize, usize) {
        let agents = self
            .sessions
            .by_dialect()
            .into_iter()
            .map(|(_, count)| count);
        (agents.sum(), self.apps.here())
    }

    fn send(&mut self, peer: PeerId, kind: &str, id: Option<&str>, payload: &str) {
        self.send_as(peer, kind, id, None, payload);
    }

    /// Sends a message to an app in the name of an agent.
    fn send_as(
        &mut self,
        peer: PeerId,
        kind: &str,
        id: Option<&str>,
        agent: Option<&str>,
        payload: &str,
    ) {
        let header = Header {
            kind,
            id,
            agent,
            timestamp: &self.timestamp,
        };
        let message = Outgoing::new(header, payload, None);
        self.actions.push_back(Action::Send { peer, message });
    }

    fn close(&mut self, peer: PeerId, code: CloseCode, reason: impl Into<String>) {
        let reason = reason.into();
        self.actions.push_back(Action::Close { peer, code, reason });
    }

    /// Tells a peer that its message was refused. The connection stays open.
    fn refuse(&mut self, peer: PeerId, subject: &Subject, error: &Failure) {
        // An error is never the answer to an error, or two peers could go on without end.
        if subject.kind.as_deref() == Some("error") {
            return;
        }
        self.counters.refused += 1;
        let (kind, payload) = failed(subject, error);
        let id = subject
            .id
            .as_deref()
            .or((kind == "error").then_some("null"));
        self.send(peer, kind, id, &payload);
    }

    /// A number never used before, for ids of the broker's own.
    fn issue(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }
}
