//! Tests of the broker without a socket: events go in, and actions come out.

mod bad_apps;
mod bad_input;
mod bounds;
mod departures;
mod draining;
mod ended;
mod internal;
mod late_answers;
mod leftovers;
mod relaying;
mod resuming;
mod runs;
mod stops;
mod updates;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{
    Action, Ask, Asker, Backlog, Broker, CancelOutcome, Event, Now, PeerId, Profile, Seat, Steps,
    ToApp, Wanted,
};
use crate::broker::calls::{Dialect, Found, Run, RunId};
use crate::limits::Limits;
use crate::tokens::{Identity, Tokens};
use crate::wire::{Envelope, Request};

/// A broker, and its actions since the last check.
pub(super) struct Bench {
    pub broker: Broker,
    pub limits: Limits,
    pub now: Now,
    /// The callers of the gateway's own calls.
    pub steps: Vec<(RunId, Steps)>,
    /// Those who wait for the outcome of a cancel.
    revoked: Vec<(RunId, oneshot::Receiver<CancelOutcome>)>,
}

/// An action for one peer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    Message(u64, Value),
    Closed(u64, u16),
    Revoked(RunId, CancelOutcome),
    /// A step of one of the gateway's own calls.
    Step(RunId, String),
    CallOver(RunId),
    Resumable(u64, Option<String>, String),
    Replaced(String, String, String),
    Superseded(u64, String, String, String),
    Left(u64, String),
    /// A message to an app inside the gateway.
    ToApp(u64, Value),
}

impl Bench {
    pub fn new() -> Self {
        Self::with(Limits::default(), Tokens::default())
    }

    pub fn with(limits: Limits, tokens: Tokens) -> Self {
        let broker = Broker::new(limits.clone(), tokens);
        let now = Now {
            monotonic_ms: 0.0,
            unix_ms: 1_000,
        };
        Bench {
            broker,
            limits,
            now,
            steps: Vec::new(),
            revoked: Vec::new(),
        }
    }

    pub fn event(&mut self, mut event: Event<'_>) -> Vec<Seen> {
        if let Event::Cancel { run, asker, .. } = &mut event
            && matches!(asker, Asker::Gateway)
        {
            let (waiter, outcome) = oneshot::channel();
            *asker = Asker::Other(waiter);
            self.revoked.push((*run, outcome));
        }
        self.broker.handle(event, self.now);
        let mut seen = self.told();
        seen.extend(self.done());
        seen
    }

    /// What callers have been told: the outcomes of cancels, then the steps of calls.
    fn told(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        self.revoked.retain_mut(|(run, outcome)| {
            let told = outcome.try_recv();
            // Those who have joined a cancel are told the same.
            if let Ok(outcome) = &told {
                let told = Seen::Revoked(*run, outcome.clone());
                if !seen.contains(&told) {
                    seen.push(told);
                }
            }
            told == Err(TryRecvError::Empty)
        });
        self.steps.retain(|(run, steps)| {
            while let Some(next) = steps.next().now_or_never() {
                let Some(step) = next else {
                    seen.push(Seen::CallOver(*run));
                    return false;
                };
                seen.push(Seen::Step(*run, format!("{step:?}")));
            }
            true
        });
        seen
    }

    /// What the broker has done.
    fn done(&mut self) -> Vec<Seen> {
        std::iter::from_fn(|| self.broker.next_action())
            .map(|action| match action {
                Action::ToApp { app, message } => Seen::ToApp(app.0, asked_inside(message)),
                Action::Send { peer, message } => {
                    Seen::Message(peer.0, serde_json::from_str(&message.into_text()).unwrap())
                }
                Action::Close { peer, code, .. } => Seen::Closed(peer.0, code.0),
                Action::Left { agent, message } => Seen::Left(agent.0, message.into_text()),
                Action::Resumable { peer, id, app, .. } => {
                    Seen::Resumable(peer.0, id, app.to_string())
                }
                Action::Replaced { token, app, by } => {
                    Seen::Replaced(token, app.to_string(), by.name.to_string())
                }
                Action::Superseded {
                    peer, app, was, by, ..
                } => Seen::Superseded(peer.0, app.to_string(), was.to_string(), by.to_string()),
            })
            .collect()
    }

    pub fn text(&mut self, peer: u64, text: &str) -> Vec<Seen> {
        let limits = self.limits.clone();
        let peer = PeerId(peer);
        self.event(Event::received(peer, Envelope::read(text, None, &limits)))
    }

    pub fn send(&mut self, peer: u64, message: Value) -> Vec<Seen> {
        self.text(peer, &message.to_string())
    }

    /// An agent that has shown a token with that name.
    pub fn agent_of(&mut self, peer: u64, owner: &str) -> Vec<Seen> {
        self.event(Event::AgentJoined {
            peer: PeerId(peer),
            app: None::<String>.into(),
            profile: Profile {
                dialect: Dialect::Abp,
                owner: Identity {
                    name: owner.into(),
                    ..Identity::anyone()
                },
                quota_key: owner.into(),
                name: None,
                seat: Seat::Connected,
            },
        })
    }

    pub fn agent(&mut self, peer: u64, app: Option<&str>) -> Vec<Seen> {
        self.event(Event::AgentJoined {
            peer: PeerId(peer),
            app: app.map(str::to_string).into(),
            profile: Profile {
                dialect: Dialect::Abp,
                owner: Identity::anyone(),
                quota_key: "anyone".into(),
                name: None,
                seat: Seat::Connected,
            },
        })
    }

    pub fn app(&mut self, peer: u64, id: &str) -> Vec<Seen> {
        let mut seen = self.event(Event::AppJoined {
            peer: PeerId(peer),
            identity: Some(Identity::anyone()),
            seat: Seat::Connected,
        });
        seen.extend(self.send(peer, register(id)));
        seen
    }

    pub fn gone(&mut self, peer: u64) -> Vec<Seen> {
        self.event(Event::Gone { peer: PeerId(peer) })
    }

    /// The run with that callId.
    pub fn run(&self, call_id: &str) -> Run {
        let runs = self.broker.runs();
        match runs.find(call_id, &Identity::anyone(), self.now.unix_ms) {
            Found::One(run) => Run::clone(&run),
            other => panic!("{call_id}: {other:?}"),
        }
    }

    /// Sends a request that the broker relays. Returns the message to the app.
    pub fn relayed(&mut self, agent: u64, message: Value) -> Value {
        match &self.send(agent, message)[..] {
            [Seen::Message(_, relayed)] => relayed.clone(),
            other => panic!("not relayed: {other:?}"),
        }
    }

    /// Connects app 1, and agents 2 and 3, which have asked for a session.
    pub fn session() -> Self {
        let mut bench = Self::new();
        bench.app(1, "demo");
        for agent in [2, 3] {
            bench.agent(agent, None);
            let relayed = bench.relayed(agent, request("initialize", "i", json!({})));
            bench.send(
                1,
                answer(&relayed, "initialize-result", json!({ "sessionId": "s" })),
            );
        }
        bench
    }
}

/// A message to an app inside the gateway, as an app on a socket gets it.
fn asked_inside(message: ToApp) -> Value {
    match message {
        ToApp::Asked { agent, number, ask } => {
            let kind = match ask {
                Ask::Open(_) => Request::Initialize,
                Ask::Start(_) => Request::Call,
                Ask::Cancel(_) => Request::Cancel,
                Ask::List => Request::List,
                Ask::Shutdown => Request::Shutdown,
            };
            json!({ "type": kind.kind(), "id": format!("g{number}"), "agent": agent })
        }
        ToApp::Left { agent } => json!({ "type": "agent/closed", "agent": agent }),
        ToApp::Closed(code, reason) => {
            json!({ "type": "closed", "code": code.0, "reason": reason })
        }
    }
}

pub(super) fn register(id: &str) -> Value {
    json!({ "type": "app/register", "id": "r", "timestamp": 1, "payload": {
        "app": { "id": id, "name": "Demo", "version": "1.0.0" },
        "capabilities": [{ "name": "a.b", "description": "d", "inputSchema": {}, "outputSchema": {} }],
    } })
}

pub(super) fn request(kind: &str, id: &str, payload: Value) -> Value {
    json!({ "type": kind, "id": id, "timestamp": 5, "payload": payload })
}

pub(super) fn call(id: &str, call_id: &str) -> Value {
    let payload = json!({ "capability": "a.b", "options": { "callId": call_id } });
    request("capabilities/call", id, payload)
}

pub(super) fn cancel(id: &str, call_id: &str) -> Value {
    request("capabilities/cancel", id, json!({ "callId": call_id }))
}

/// An app's answer to a relayed message.
pub(super) fn answer(relayed: &Value, kind: &str, payload: Value) -> Value {
    json!({
        "type": kind, "id": relayed["id"], "agent": relayed["agent"], "timestamp": 6,
        "payload": payload,
    })
}

/// The only message, which must be for that peer.
pub(super) fn only(seen: &[Seen], to: u64) -> &Value {
    match seen {
        [Seen::Message(peer, message)] if *peer == to => message,
        other => panic!("not one message to {to}: {other:?}"),
    }
}

pub(super) fn code(message: &Value) -> &str {
    message["payload"]["error"]["code"]
        .as_str()
        .unwrap_or("none")
}

/// Checks that the session goes on: a call is still relayed and answered.
pub(super) fn goes_on(bench: &mut Bench, agent: u64) {
    let relayed = bench.relayed(agent, call("after", "after"));
    let seen = bench.send(
        1,
        answer(
            &relayed,
            "capabilities/call-result",
            json!({ "success": true }),
        ),
    );
    assert_eq!(only(&seen, agent)["payload"]["success"], true);
}
