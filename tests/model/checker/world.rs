//! A host, its agents and the channels between them, driven by one event after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::agent::{AgentOptions, AgentState, RequestKey};
use crate::call::{CallId, CallKey, LateEnd, Millis};
use crate::offers::Descriptor;
use crate::session::{
    Agent, CancelKey, ConnectionId, ElicitationKey, Features, HostState, Initialize, Limits,
    Scope as Rights,
};

use super::facts::{Facts, Said, Told};
use super::scope::{AGENT_GRACE, Kind, SLACK, Scope};

pub type Host = HostState<u32, Kind>;

/// What one of an agent's requests is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    Call(u8),
    /// The same callId once more.
    Reuse(u8),
    /// A caller's cancel, by its number.
    Ask(u8, u8),
    /// A cancel that no caller has asked for.
    Quiet(u8),
    Shutdown,
}

#[derive(Clone, Copy, Debug)]
pub struct Up {
    pub key: RequestKey,
    pub what: What,
}

#[derive(Clone, Copy, Debug)]
pub enum Down {
    Called(RequestKey, What, Told),
    Cancelled(RequestKey, What, Said),
    Over,
    Ended(u8, LateEnd),
    Progress(u8),
}

impl Down {
    pub fn may_come_twice(&self) -> bool {
        matches!(
            self,
            Down::Called(..) | Down::Cancelled(..) | Down::Ended(..)
        )
    }
}

/// An agent, and the channel between it and the host.
pub struct Side {
    pub state: AgentState<u32>,
    /// The host's end of the connection.
    pub connection: Option<ConnectionId>,
    pub session: u8,
    /// The session is over for the host.
    pub over: bool,
    pub up: VecDeque<Up>,
    pub down: VecDeque<Down>,
    pub keys: Vec<(RequestKey, What)>,
    pub flush: bool,
    pub cut: bool,
    pub noticed: bool,
    pub lost: bool,
    pub shutting: bool,
    pub closed: bool,
    pub shut_at: Option<Millis>,
    /// Until when the agent has just handled all deadlines.
    pub seen: Millis,
    /// The host has answered the shutdown while calls were open.
    pub shut_early: bool,
}

/// How often each disturbance may still happen.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Left {
    pub ticks: u8,
    pub losses: u8,
    pub repeats: u8,
    pub app_cancels: u8,
    pub reuses: u8,
    pub reports: u8,
    pub questions: u8,
    pub shutdowns: u8,
    pub cuts: u8,
    pub give_up: bool,
}

pub struct World {
    pub scope: Rc<Scope>,
    pub now: Millis,
    pub host: Host,
    pub sides: Vec<Side>,
    /// The calls of the first agent, of the second, …, then the calls that these make.
    pub calls: Vec<Facts>,
    pub left: Left,
    /// The host's microtask is due.
    pub wake: bool,
    /// The connections that were ever made, and their agents.
    pub connections: Vec<(ConnectionId, usize)>,
    pub host_keys: Vec<(CallKey, u8)>,
    pub app_cancels: Vec<(CancelKey, u8)>,
    pub questions: Vec<(ElicitationKey, u8)>,
    /// The calls that the host has taken, in order, and those that have ended, in order.
    pub taken: Vec<u8>,
    pub ended: Vec<u8>,
    /// Until when the host has just handled all deadlines.
    pub host_has_seen: Millis,
    /// Something that no rule can say of a single call.
    pub oddity: Option<&'static str>,
}

impl World {
    pub fn new(scope: &Rc<Scope>) -> Self {
        let limits = Limits {
            remembered: scope.remembered,
            ..Limits::default()
        };
        let mut host = Host::new(limits);
        for kind in Kind::ALL {
            let descriptor = Descriptor {
                name: kind.capability().into(),
                concurrency: kind.concurrency(),
                available: true,
                alternatives: Vec::new(),
                ending: kind.ending(),
                confirm: kind == Kind::Asked,
                checked: kind == Kind::Checked,
                document: 0,
            };
            host.register(descriptor, kind);
        }
        host.show_consents(true, 0.0);
        let mut calls = Vec::new();
        for (agent, wanted) in scope.agents.iter().enumerate() {
            calls.extend(wanted.iter().map(|it| Facts::new(agent, *it, None)));
        }
        for parent in 0..calls.len() {
            let by = calls[parent].wanted;
            if let Some(kind) = by.child {
                let wanted = super::scope::Wanted::of(kind).cancels(by.cancels.min(1));
                calls.push(Facts::new(calls[parent].agent.into(), wanted, Some(parent)));
            }
        }
        let mut world = World {
            scope: scope.clone(),
            now: 0.0,
            host,
            sides: Vec::new(),
            calls,
            left: Left {
                ticks: scope.ticks,
                losses: scope.losses,
                repeats: scope.repeats,
                app_cancels: scope.app_cancels,
                reuses: scope.reuses,
                reports: scope.reports,
                questions: scope.questions,
                shutdowns: scope.shutdowns,
                cuts: scope.cuts,
                give_up: scope.gives_up,
            },
            wake: false,
            connections: Vec::new(),
            host_keys: Vec::new(),
            app_cancels: Vec::new(),
            questions: Vec::new(),
            taken: Vec::new(),
            ended: Vec::new(),
            host_has_seen: f64::NEG_INFINITY,
            oddity: None,
        };
        for _ in 0..scope.agents.len() {
            let options = AgentOptions {
                grace: AGENT_GRACE,
                slack: SLACK,
                reconnects: scope.resumes,
                ..AgentOptions::default()
            };
            world.sides.push(Side {
                state: AgentState::new(options),
                connection: None,
                session: 0,
                over: false,
                up: VecDeque::new(),
                down: VecDeque::new(),
                keys: Vec::new(),
                flush: false,
                cut: false,
                noticed: false,
                lost: false,
                shutting: false,
                closed: false,
                shut_at: None,
                seen: f64::NEG_INFINITY,
                shut_early: false,
            });
            world.connect(world.sides.len() - 1);
        }
        world
    }

    pub fn connect(&mut self, agent: usize) {
        let connection = self.host.connect();
        self.connections.push((connection, agent));
        let params = Initialize {
            agent: Agent {
                name: "agent".into(),
                version: "1".into(),
            },
            features: Features {
                notifications: true,
                progress: true,
                elicitation: true,
            },
            scope: Rights::default(),
        };
        let side = &mut self.sides[agent];
        side.session += 1;
        let session = format!("{agent}.{}", side.session).into();
        (side.connection, side.over, side.cut, side.noticed) =
            (Some(connection), false, false, false);
        self.host
            .initialize(connection, Some(0), params, session, self.now);
        self.perform();
    }

    pub fn roots(&self, agent: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.of_agent(agent)
            .filter(|call| self.calls[*call].parent.is_none())
    }

    pub fn of_agent(&self, agent: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.calls.len()).filter(move |call| usize::from(self.calls[*call].agent) == agent)
    }

    pub fn child_of(&self, call: usize) -> Option<usize> {
        (0..self.calls.len()).find(|it| self.calls[*it].parent == Some(call as u8))
    }

    /// The callId. The agents use the same ones.
    pub fn id(&self, call: usize) -> CallId {
        let agent = usize::from(self.calls[call].agent);
        let place = self.of_agent(agent).position(|it| it == call).unwrap_or(0);
        CallId::parse(["a", "b", "c", "d", "e", "f", "g", "h"][place]).expect("printable")
    }

    pub fn host_key(&self, call: usize) -> Option<CallKey> {
        let found = self.host_keys.iter().rev();
        let mut found = found.filter(|(_, it)| usize::from(*it) == call);
        found.next().map(|(key, _)| *key)
    }
}
