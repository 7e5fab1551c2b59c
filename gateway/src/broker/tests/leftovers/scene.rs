//! One call and everything that can happen to it.

use super::*;
use crate::broker::{CallRequest, FromApp, NewCall, NewSession, steps};
use crate::wire::{Json, Request, Subject, answer_to_call, answer_to_cancel, said};
use caphost::call::{Code, Error};

pub(super) const APP: u64 = 1;
pub(super) const AGENT: u64 = 2;
const CALL: &str = "capabilities/call";
const CANCEL: &str = "capabilities/cancel";

/// Who makes the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Caller {
    /// An agent on a socket.
    Agent,
    /// An agent on a socket of another worker, which keeps the record of the call.
    AgentElsewhere,
    /// A front, for a client that takes no questions.
    Front(Dialect),
    /// A front, for a client that takes questions.
    Asked(Dialect),
}

/// An app and one call to it.
pub(super) struct Scene {
    pub bench: Bench,
    pub caller: Caller,
    seat: Seat,
    pub run: Option<RunId>,
    /// What the app was asked and has not answered.
    asked: Vec<Value>,
    /// The agent's name in messages to the app.
    handle: Value,
    /// The runs that have begun and not ended, as metrics count them.
    pub counted: isize,
}

impl Scene {
    /// A scene with an app that has not registered.
    pub fn new(caller: Caller, seat: Seat) -> Self {
        let mut bench = Bench::new();
        bench.event(Event::AppJoined {
            peer: PeerId(APP),
            identity: Some(Identity::anyone()),
            seat,
        });
        Scene {
            bench,
            caller,
            seat,
            run: None,
            asked: Vec::new(),
            handle: Value::Null,
            counted: 0,
        }
    }

    /// Whether the caller is a front.
    pub fn is_internal(&self) -> bool {
        matches!(self.caller, Caller::Front(_) | Caller::Asked(_))
    }

    /// Notes what the app is asked, and what metrics count.
    fn seen(&mut self, seen: Vec<Seen>) {
        self.bench.broker.calls.kept();
        for news in self.bench.broker.runs_mut().take_news() {
            match news {
                News::Registered(..) => self.counted += 1,
                News::Ended(_) => self.counted -= 1,
                _ => {}
            }
        }
        for it in seen {
            if let Seen::Message(APP, message) | Seen::ToApp(APP, message) = it
                && message["id"].as_str().is_some_and(|id| id.starts_with('g'))
            {
                self.handle = message["agent"].clone();
                self.asked.push(message);
            }
        }
    }

    pub fn event(&mut self, event: Event<'_>) {
        let seen = self.bench.event(event);
        self.seen(seen);
    }

    fn send(&mut self, peer: u64, message: Value) {
        let seen = self.bench.send(peer, message);
        self.seen(seen);
    }

    pub fn register(&mut self) {
        self.send(APP, register("demo"));
    }

    /// Takes the oldest request of that type that the app has not answered.
    fn take(&mut self, kind: &str) -> Option<Value> {
        let at = self.asked.iter().position(|it| it["type"] == kind)?;
        Some(self.asked.remove(at))
    }

    /// The app answers the oldest request of that type, if there is any.
    pub fn answer(&mut self, kind: &str, payload: Value) {
        let Some(asked) = self.take(kind) else {
            return;
        };
        if self.seat != Seat::Own {
            return self.send(APP, answer(&asked, &format!("{kind}-result"), payload));
        }
        let text = payload.to_string();
        let (request, said) = match Request::of(kind) {
            Some(Request::Call) => (Request::Call, answer_to_call(&text)),
            Some(Request::Cancel) => (Request::Cancel, answer_to_cancel(&text)),
            other => (other.expect("a request"), said(&text)),
        };
        let number = asked["id"].as_str().and_then(|id| id[1..].parse().ok());
        self.event(Event::Said {
            app: PeerId(APP),
            agent: asked["agent"].as_str().unwrap_or_default(),
            message: FromApp::Answer {
                number: number.expect("a number"),
                request,
                payload: &Json::from(text.clone()),
                said: Box::new(said),
            },
        });
    }

    /// The app answers everything, calls with `response`.
    pub fn answer_all(&mut self, response: &Value) {
        let is_cancelled = response["cancelled"] == true;
        let confirmation = json!({ "callId": "c", "cancelled": is_cancelled });
        self.answer("initialize", json!({ "sessionId": "s" }));
        for _ in 0..4 {
            self.answer(CALL, response.clone());
            self.answer(CANCEL, confirmation.clone());
        }
    }

    /// The app answers that the call is cancelled, first the cancels and then the call.
    pub fn confirm_all(&mut self, stop: &str) {
        let metadata = json!({ "stop": stop });
        for _ in 0..4 {
            let it = json!({ "callId": "c", "cancelled": true, "metadata": metadata });
            self.answer(CANCEL, it);
        }
        let it = json!({ "success": false, "cancelled": true, "metadata": metadata });
        self.answer(CALL, it);
    }

    /// The app refuses the cancel, and the call goes on.
    pub fn refuse_cancel(&mut self) {
        let refused = json!({ "callId": "c", "cancelled": false, "reason": "no" });
        self.answer(CANCEL, refused);
    }

    /// The app has not understood the call.
    pub fn not_understood(&mut self) {
        if let Some(asked) = self.take(CALL) {
            let error = json!({ "error": { "code": "X", "message": "no" } });
            self.send(APP, answer(&asked, "error", error));
        }
    }

    /// The app answers the call with a message that cannot be read.
    pub fn illegible(&mut self) {
        if let Some(asked) = self.take(CALL) {
            let subject = Subject {
                kind: Some(format!("{CALL}-result")),
                id: Some(asked["id"].to_string()),
                agent: asked["agent"].as_str().map(str::to_string),
                call_id: None,
            };
            let error = Error::new(Code::INVALID_PARAMS, "no");
            self.event(Event::refused(PeerId(APP), subject, error));
        }
    }

    /// The app says something to the agent without being asked. A tool server has no such messages.
    fn say(&mut self, kind: &str, payload: Value) {
        if self.seat != Seat::Own {
            let message = json!({
                "type": kind, "id": "q", "agent": self.handle, "timestamp": 6, "payload": payload,
            });
            self.send(APP, message);
        }
    }

    pub fn progress(&mut self) {
        for operation in ["t", "c"] {
            let info = json!({ "operationId": operation, "progress": 1 });
            self.say("progress", info);
        }
    }

    pub fn ask(&mut self) {
        self.say("elicitation/request", json!({ "message": "?" }));
    }

    pub fn ended_late(&mut self) {
        let data = json!({ "callId": "c", "success": true, "after": 5 });
        let payload = json!({ "event": "notifications/call/ended", "data": data });
        self.say("notification", payload);
    }

    /// The caller connects. A front makes its call with that.
    pub fn join(&mut self) {
        let (seat, wanted) = match self.caller {
            Caller::Agent => (Seat::Connected, Wanted::Any),
            Caller::AgentElsewhere => (Seat::Elsewhere, Wanted::Peer(PeerId(APP))),
            Caller::Front(dialect) => return self.call_by_front(dialect, false),
            Caller::Asked(dialect) => return self.call_by_front(dialect, true),
        };
        self.event(Event::AgentJoined {
            peer: PeerId(AGENT),
            app: wanted,
            profile: profile(Dialect::Abp, seat),
        });
        self.send(AGENT, request("initialize", "i", json!({})));
    }

    fn call_by_front(&mut self, dialect: Dialect, takes_questions: bool) {
        let run = RunId::random();
        self.run = Some(run);
        let payload = json!({ "capability": "a.b", "options": { "callId": "c" } });
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
            profile: profile(dialect, Seat::Own),
            hello: "{}".to_string().into(),
            takes_questions,
        };
        self.event(Event::Call {
            session: PeerId(AGENT),
            client: &client,
            call: Box::new(call),
        });
    }

    /// An agent on a socket calls.
    pub fn call(&mut self) {
        if self.is_internal() {
            return;
        }
        let mut call = call("1", "c");
        call["payload"]["options"]["progressToken"] = "t".into();
        self.send(AGENT, call);
        let found = self.bench.broker.runs().in_flight();
        self.run = found.first().copied();
    }

    /// The app opens the session, and gets the call.
    pub fn open(&mut self) {
        self.answer("initialize", json!({ "sessionId": "s" }));
        self.call();
    }

    /// The caller cancels the call, under that id of the request.
    pub fn cancel(&mut self, id: &str) {
        match (self.is_internal(), self.run) {
            (true, Some(run)) => self.cancel_as(run, Asker::Caller),
            (true, None) => {}
            (false, _) => self.send(AGENT, cancel(id, "c")),
        }
    }

    /// An operator cancels the call. The worker of an agent elsewhere has its calls.
    pub fn revoke(&mut self) {
        if let Some(run) = self.run {
            self.cancel_as(run, Asker::Gateway);
        }
    }

    fn cancel_as(&mut self, run: RunId, asker: Asker) {
        let reason = None;
        self.event(Event::Cancel { run, asker, reason });
    }

    pub fn gone(&mut self, peer: u64) {
        let peer_id = PeerId(peer);
        match (peer, self.is_internal()) {
            (AGENT, true) => self.event(Event::Left { session: peer_id }),
            _ => self.event(Event::Gone { peer: peer_id }),
        }
    }

    /// The app's worker has lost the agent.
    pub fn agent_lost(&mut self) {
        if let Some(agent) = self.handle.as_str().map(str::to_string) {
            let app = PeerId(APP);
            self.event(Event::AgentLost { app, agent });
        }
    }

    pub fn backlog(&mut self, backlog: Backlog) {
        let peer = PeerId(APP);
        self.event(Event::Backlog { peer, backlog });
    }

    /// The next deadline passes.
    pub fn deadline(&mut self) -> bool {
        let at = self.bench.broker.next_deadline();
        if let Some(at) = at {
            self.bench.now.monotonic_ms = at;
            self.event(Event::Deadline);
        }
        at.is_some()
    }

    /// All deadlines pass.
    pub fn pass_time(&mut self) {
        let passed = (0..100).take_while(|_| self.deadline()).count();
        assert!(passed < 100, "deadlines without end");
    }
}

fn profile(dialect: Dialect, seat: Seat) -> Profile {
    Profile {
        dialect,
        owner: Identity::anyone(),
        quota_key: "anyone".into(),
        name: None,
        seat,
    }
}
