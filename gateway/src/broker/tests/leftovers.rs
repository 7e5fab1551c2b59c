//! Every end of a call, at every phase of it, leaves nothing behind.

use std::sync::Arc;

use super::*;
use crate::broker::sessions::Agent;
use crate::broker::{CallRequest, NewCall, NewSession, steps};
use crate::wire::Request;

const APP: u64 = 1;
const AGENT: u64 = 2;

/// How far a call has come when its end comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// It waits for its session to open.
    Opening,
    /// The app has it.
    Sent,
    /// Its caller has cancelled it, and the app has not answered.
    Cancelling,
    /// Its caller has cancelled it again.
    CancellingTwice,
    /// Somebody else has cancelled it, twice, and the app has not answered.
    Revoking,
    /// Both have.
    Both,
    /// The app has confirmed the cancel, and not answered the call.
    Confirmed,
    /// The app has refused the cancel.
    Refused,
}

const PHASES: [Phase; 8] = [
    Phase::Opening,
    Phase::Sent,
    Phase::Cancelling,
    Phase::CancellingTwice,
    Phase::Revoking,
    Phase::Both,
    Phase::Confirmed,
    Phase::Refused,
];

/// How a call ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Answered,
    Failed,
    AnsweredAsCancelled,
    /// The app answers in a way that nobody can read.
    Unreadable,
    /// Nobody answers any more, and all deadlines pass.
    Time,
    AppGone,
    AgentGone,
    /// The agent has gone, and then the app.
    BothGone,
    Drain,
    Shutdown,
}

const ENDS: [End; 10] = [
    End::Answered,
    End::Failed,
    End::AnsweredAsCancelled,
    End::Unreadable,
    End::Time,
    End::AppGone,
    End::AgentGone,
    End::BothGone,
    End::Drain,
    End::Shutdown,
];

/// An app and one call to it, of an agent on a socket or of a session of the gateway itself.
struct Scene {
    bench: Bench,
    own: bool,
    run: Option<RunId>,
    /// What the app was asked and has not answered.
    asked: Vec<Value>,
}

impl Scene {
    fn new(own: bool) -> Self {
        let mut bench = Bench::new();
        bench.app(APP, "demo");
        let (run, asked) = (None, Vec::new());
        Scene {
            bench,
            own,
            run,
            asked,
        }
    }

    /// Notes what the app is asked.
    fn seen(&mut self, seen: Vec<Seen>) {
        self.bench.broker.calls.kept();
        for it in seen {
            if let Seen::Message(APP, message) = it
                && message["id"].as_str().is_some_and(|id| id.starts_with('g'))
            {
                self.asked.push(message);
            }
        }
    }

    fn event(&mut self, event: Event<'_>) {
        let seen = self.bench.event(event);
        self.seen(seen);
    }

    /// The app answers the oldest request of that type, if there is any.
    fn answer(&mut self, kind: &str, payload: Value) {
        if let Some(at) = self.asked.iter().position(|it| it["type"] == kind) {
            let request = self.asked.remove(at);
            let message = answer(&request, &format!("{kind}-result"), payload);
            let seen = self.bench.send(APP, message);
            self.seen(seen);
        }
    }

    fn call(&mut self) {
        if !self.own {
            let seen = self.bench.agent(AGENT, None);
            self.seen(seen);
            let seen = self
                .bench
                .send(AGENT, request("initialize", "i", json!({})));
            self.seen(seen);
            return;
        }
        let run = RunId::random();
        self.run = Some(run);
        let payload = json!({ "capability": "a.b", "options": { "callId": "c" } });
        let profile = Profile {
            dialect: Dialect::Mcp,
            owner: Identity::anyone(),
            holder: "anyone".into(),
            name: None,
            seat: Seat::Own,
        };
        let (sink, steps) = steps();
        self.bench.steps.push((run, steps));
        let call = NewCall {
            run,
            dialect_id: Some("c".into()),
            thread: None,
            capability: "a.b".into(),
            call_id: "c".into(),
            token: None,
            request: Some(CallRequest {
                payload: payload.to_string().into(),
                params: None,
                timeout: Some(1_000.0),
            }),
            completed: None,
            sink: Some(sink),
        };
        let client = NewSession {
            app: Wanted::Any,
            profile,
            hello: "{}".to_string().into(),
            takes_questions: false,
        };
        self.event(Event::Call {
            session: PeerId(AGENT),
            client: &client,
            call: Box::new(call),
        });
    }

    fn open(&mut self) {
        self.answer("initialize", json!({ "sessionId": "s" }));
        if !self.own {
            let mut call = call("1", "c");
            call["payload"]["options"]["progressToken"] = "t".into();
            let seen = self.bench.send(AGENT, call);
            self.seen(seen);
            self.run = Some(self.bench.run("c").id);
        }
    }

    fn cancel(&mut self, id: &str) {
        match (self.own, self.run) {
            (true, Some(run)) => self.event(Event::Cancel {
                run,
                asker: Asker::Caller,
                reason: None,
            }),
            _ => {
                let seen = self.bench.send(AGENT, cancel(id, "c"));
                self.seen(seen);
            }
        }
    }

    fn revoke(&mut self) {
        if let Some(run) = self.run {
            self.event(Event::Cancel {
                run,
                asker: Asker::Gateway,
                reason: None,
            });
        }
    }

    fn come_to(&mut self, phase: Phase) {
        self.call();
        if phase == Phase::Opening {
            return;
        }
        self.open();
        let cancelled = json!({ "callId": "c", "cancelled": true });
        match phase {
            Phase::Opening | Phase::Sent => {}
            Phase::Cancelling => self.cancel("x"),
            Phase::CancellingTwice => {
                self.cancel("x");
                self.cancel("y");
            }
            Phase::Revoking => {
                self.revoke();
                self.revoke();
            }
            Phase::Both => {
                self.cancel("x");
                self.revoke();
                self.revoke();
            }
            Phase::Confirmed => {
                self.cancel("x");
                self.answer("capabilities/cancel", cancelled);
            }
            Phase::Refused => {
                self.cancel("x");
                let refused = json!({ "callId": "c", "cancelled": false, "reason": "no" });
                self.answer("capabilities/cancel", refused);
            }
        }
    }

    /// The app answers everything, calls with `response`.
    fn answer_all(&mut self, response: &Value) {
        self.answer("initialize", json!({ "sessionId": "s" }));
        let is_cancelled = response["cancelled"] == true;
        let confirmation = json!({ "callId": "c", "cancelled": is_cancelled });
        for _ in 0..4 {
            self.answer("capabilities/call", response.clone());
            self.answer("capabilities/cancel", confirmation.clone());
        }
    }

    fn pass_time(&mut self) {
        while let Some(at) = self.bench.broker.next_deadline() {
            self.bench.now.monotonic_ms = at;
            self.event(Event::Deadline);
        }
    }

    fn is_over(&self, what: &str) {
        let kept = leftovers(&self.bench.broker);
        let kept: Vec<_> = kept.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(kept, [], "{what}");
    }

    fn gone(&mut self, peer: u64) {
        match (peer, self.own) {
            (AGENT, true) => self.event(Event::Left {
                session: PeerId(AGENT),
            }),
            _ => self.event(Event::Gone { peer: PeerId(peer) }),
        }
    }

    fn end(&mut self, end: End) {
        match end {
            End::Answered => self.answer_all(&json!({ "success": true })),
            End::Failed => {
                let error = json!({ "code": "X", "message": "no" });
                self.answer_all(&json!({ "success": false, "error": error }));
            }
            End::AnsweredAsCancelled => {
                self.answer_all(&json!({ "success": false, "cancelled": true }));
            }
            End::Unreadable => self.answer_all(&json!({ "success": "perhaps" })),
            End::Time => {}
            End::AppGone => self.gone(APP),
            End::AgentGone => self.gone(AGENT),
            End::BothGone => {
                self.gone(AGENT);
                self.gone(APP);
            }
            End::Drain => {
                self.event(Event::Drain);
                self.answer_all(&json!({ "success": true }));
            }
            End::Shutdown => self.event(Event::Shutdown),
        }
    }
}

/// How much of each kind is kept of calls that are not over.
fn leftovers(broker: &Broker) -> Vec<(&'static str, usize)> {
    let agents = || broker.sessions.all.values();
    let sum = |of: fn(&Agent) -> usize| agents().map(of).sum();
    let anyone: Arc<str> = "anyone".into();
    let bounds = Request::ALL.map(|it| broker.sessions.unanswered(&anyone, it).count);
    let load = broker.apps.all.values().map(|app| app.load.of(&anyone));
    let [live, deadlines, call_ids, tokens] = broker.calls.kept();
    vec![
        ("calls", live),
        ("deadlines", deadlines),
        ("runs in flight", broker.calls.in_flight().len()),
        ("requests", sum(|it| it.pending.awaited())),
        ("numbers", sum(|it| it.pending.calls().count())),
        ("callIds", call_ids),
        ("tokens", tokens),
        (
            "agents that have left",
            agents().filter(|it| it.left).count(),
        ),
        ("bounds", bounds.iter().sum()),
        ("load", load.sum()),
    ]
}

#[test]
fn every_end_of_a_call_at_every_phase_leaves_nothing_behind() {
    for own in [false, true] {
        for phase in PHASES {
            for end in ENDS {
                let what = format!("own: {own}, {phase:?}, {end:?}");
                let mut scene = Scene::new(own);
                scene.come_to(phase);
                scene.end(end);
                // An agent whose app has not answered waits as long as it wants.
                if !own && matches!(end, End::Time) {
                    scene.gone(AGENT);
                }
                scene.pass_time();
                scene.is_over(&what);
                // The late end of an abandoned call is waited for as long as its session lasts.
                scene.gone(AGENT);
                scene.pass_time();
                scene.is_over(&what);
                let told = scene.bench.steps.len() + scene.bench.revoked.len();
                assert_eq!(told, 0, "{what}: somebody still waits");
                if let Some(run) = scene.run {
                    let run = scene.bench.broker.runs().get(run);
                    assert!(run.is_some_and(|run| run.state.is_over()), "{what}");
                }
            }
        }
    }
}
