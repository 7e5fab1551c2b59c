//! A host with the test capabilities, an agent, and the connection between them, on a simulated clock.

use std::collections::{HashMap, HashSet};

use crate::wire::abp::{self, Called};
use caphost::agent::{Action as AgentAction, AgentOptions, AgentState, Outgoing, RequestKey};
use caphost::call::{CallId, CallKey, Code, Error, Outcome, Stop};
use caphost::offers::{Descriptor, Ending};
use caphost::session::{Action, Answer, CallRequest, ConnectionId, HostState, Limits, ReplyTo};
use serde_json::{Value as Json, json};

use super::from_agent::{self, FromAgent, Received};
use super::lane::{End, pair};

pub const CAPABILITIES: [&str; 11] = [
    "echo",
    "fail",
    "hold",
    "single",
    "stubborn",
    "selfAbort",
    "checked",
    "started",
    "release",
    "report",
    "look",
];

/// What the test capabilities know about a call.
#[derive(Default)]
pub struct Seen {
    pub key: Option<CallKey>,
    pub started: bool,
    pub stopped: bool,
    pub reason: Option<String>,
    pub released: bool,
    stubborn: bool,
    waiters: Vec<CallKey>,
}

/// What a handler knows about itself, and what was reported of its call.
#[derive(Default)]
pub struct Work {
    pub id: String,
    /// How many steps the handler has taken.
    pub steps: u32,
    pub started: bool,
    /// How far the work was reported to stop, if it was, and how many steps the handler had taken by then.
    pub said: Option<(Option<Stop>, u32)>,
    /// How many times the end was reported.
    pub ended: u32,
}

pub struct Bench {
    pub host: HostState<Json, &'static str>,
    pub agent: AgentState<Json>,
    pub connection: ConnectionId,
    host_end: End<Json>,
    agent_end: End<Json>,
    pub seen: HashMap<String, Seen>,
    pub running: HashSet<CallKey>,
    /// An oracle: every handler counts its own steps.
    pub work: HashMap<CallKey, Work>,
    /// The responses to the agent's requests, in order.
    pub settled: Vec<(RequestKey, Json)>,
    asked: HashMap<RequestKey, String>,
    pub now: f64,
    ids: u32,
}

impl Bench {
    pub fn new(session: bool) -> Self {
        let mut host = HostState::new(Limits::default());
        for name in CAPABILITIES {
            let descriptor = Descriptor {
                name: format!("test.{name}").into(),
                concurrency: (name == "single").then_some(1),
                available: true,
                alternatives: Vec::new(),
                // Handlers are told to stop, like handlers in JavaScript.
                ending: Ending::Told { grace: 50.0 },
                confirm: false,
                checked: name == "checked",
                document: json!({ "name": name }),
            };
            host.register(descriptor, name);
        }
        let connection = host.connect();
        let (host_end, agent_end) = pair();
        let mut bench = Bench {
            host,
            agent: AgentState::new(AgentOptions::default()),
            connection,
            host_end,
            agent_end,
            seen: HashMap::new(),
            running: HashSet::new(),
            work: HashMap::new(),
            settled: Vec::new(),
            asked: HashMap::new(),
            now: 0.0,
            ids: 0,
        };
        if session {
            let params =
                json!({ "agent": { "name": "n", "version": "1" }, "protocolVersion": "0.1" });
            let envelope = abp::envelope("initialize", Some(&json!("hello")), 0.0, params);
            bench.agent_end.send(envelope);
            bench.deliver_to_host();
            bench.perform();
            let reply = bench.agent_end.receive().expect("initialize is answered");
            assert_eq!(reply["payload"]["protocolVersion"], "0.1");
        }
        bench
    }

    pub fn call(&mut self, capability: &str, params: Option<Json>, options: &Json) -> RequestKey {
        let id = match options.get("callId") {
            Some(Json::String(text)) => CallId::parse(text),
            Some(_) => CallId::parse(""),
            None => {
                self.ids += 1;
                CallId::parse(&format!("generated-{}", self.ids))
            }
        };
        let timeout = options
            .get("timeout")
            .map(|it| it.as_f64().filter(|it| *it >= 0.0));
        let (Ok(id), Some(timeout)) = (id, timeout.map_or(Some(None), |it| it.map(Some))) else {
            return self.call_badly(capability, options);
        };
        self.agent.call(Outgoing {
            id,
            capability: capability.into(),
            params,
            timeout,
            progress: false,
            transfer: false,
        })
    }

    /// A call that no proper agent would send, as a raw envelope. The host must refuse it.
    fn call_badly(&mut self, capability: &str, options: &Json) -> RequestKey {
        self.ids += 1;
        let key = u32::MAX - self.ids;
        let payload = json!({ "capability": capability, "options": options });
        self.agent_end.send(abp::envelope(
            "capabilities/call",
            Some(&json!(key.to_string())),
            0.0,
            payload,
        ));
        key
    }

    pub fn cancel(&mut self, id: &str, reason: Option<String>) -> RequestKey {
        let call = CallId::parse(id).expect("vectors cancel by good ids");
        let key = self.agent.cancel(call, reason, self.now);
        self.asked.insert(key, id.into());
        key
    }

    /// Fires the signal of a call.
    pub fn abort(&mut self, call: RequestKey, reason: Option<String>) {
        self.agent.abort(call, reason, self.now);
    }

    pub fn response(&self, key: RequestKey) -> Option<&Json> {
        self.settled
            .iter()
            .find(|(it, _)| *it == key)
            .map(|(_, response)| response)
    }

    /// Does everything that can happen without time passing.
    pub fn settle_down(&mut self) {
        loop {
            let mut moved = self.perform();
            moved |= self.perform_agent();
            moved |= self.deliver_to_host();
            moved |= self.deliver_to_agent();
            if !moved {
                break;
            }
        }
    }

    /// Advances the time to the next deadline of either half. Returns false if there is none.
    pub fn pass_time(&mut self) -> bool {
        let next = [self.host.next_deadline(), self.agent.next_deadline()];
        let Some(next) = next.into_iter().flatten().min_by(f64::total_cmp) else {
            return false;
        };
        self.now = self.now.max(next);
        self.host.handle_timeout(self.now);
        self.agent.handle_timeout(self.now);
        self.settle_down();
        true
    }

    pub fn perform_agent(&mut self) -> bool {
        let mut moved = false;
        while let Some(action) = self.agent.poll_action() {
            moved = true;
            match action {
                AgentAction::Wake => self.agent.flush(self.now),
                AgentAction::Send(key, request) => {
                    self.agent_end.send(abp::request(key, request, 0.0))
                }
                AgentAction::Settle(key, settled) => {
                    self.settled.push((key, abp::settled(settled)))
                }
                AgentAction::SettleCancel(key, outcome) => {
                    let given = self.asked.get(&key).map_or("", String::as_str);
                    self.settled.push((key, abp::confirmation(given, outcome)));
                }
                AgentAction::Progress(..) | AgentAction::Lost | AgentAction::Closed(_) => {}
            }
        }
        moved
    }

    pub fn deliver_to_agent(&mut self) -> bool {
        let Some(envelope) = self.agent_end.receive() else {
            return false;
        };
        let key = abp::request_key(&envelope["id"]);
        match key.filter(|key| *key > u32::MAX / 2) {
            // The bench itself has sent this request, without the agent.
            Some(key) => self.settled.push((key, envelope["payload"].clone())),
            None => abp::receive(&mut self.agent, &envelope),
        }
        true
    }

    pub fn deliver_to_host(&mut self) -> bool {
        let Some(envelope) = self.host_end.receive() else {
            return false;
        };
        let now = self.now;
        match from_agent::read(&envelope) {
            Err(error) => self
                .host_end
                .send(from_agent::refusal(&envelope, &error, 0.0)),
            Ok(Received { id, message }) => match message {
                FromAgent::Initialize(params) => {
                    self.host
                        .initialize(self.connection, id, params, "session".into(), now);
                }
                FromAgent::Call(called, params) => {
                    let Called {
                        call,
                        capability,
                        timeout,
                        token,
                    } = called;
                    let id_of_call = call.expect("an agent of ours gives every call its id");
                    let request = CallRequest {
                        id: id_of_call,
                        capability,
                        params,
                        timeout,
                        token,
                        bytes: 0,
                    };
                    self.host.call(self.connection, id, request, now);
                }
                FromAgent::Cancel {
                    given,
                    call,
                    reason,
                } => {
                    self.host
                        .cancel(self.connection, id, given, &call, reason, now);
                }
                FromAgent::Shutdown { reason } => {
                    self.host.shutdown(self.connection, id, reason, now)
                }
                FromAgent::List => panic!("no agent of the vectors lists"),
                FromAgent::Elicited(_) => {}
            },
        }
        true
    }

    pub fn perform(&mut self) -> bool {
        let mut moved = false;
        while let Some(action) = self.host.poll_action() {
            moved = true;
            match action {
                Action::Wake => self.host.run_ready(),
                Action::Check { key, params, .. } => {
                    self.host.checked(key, check(&params), self.now)
                }
                Action::Start {
                    key,
                    id,
                    handler,
                    params,
                    ..
                } => {
                    self.start(key, id.as_str(), handler, params);
                }
                Action::Stop { key, reason } => {
                    let began = self.work.get(&key).is_some_and(|work| work.started);
                    assert!(began, "a stopped call has run");
                    if !self.running.contains(&key) {
                        // The handler had ended before.
                        continue;
                    }
                    let mut heeds = true;
                    if let Some(seen) = self.seen.values_mut().find(|seen| seen.key == Some(key)) {
                        seen.stopped = true;
                        seen.reason = reason.map(|reason| reason.to_string());
                        heeds = !seen.stubborn;
                    }
                    if heeds {
                        self.finish(key, Err(Error::new(Code::OPERATION_FAILED, "Told to stop")));
                    }
                }
                Action::CallEnded { id, .. } => {
                    let is_meant = |work: &&mut Work| work.id == id.as_str();
                    let work = self.work.values_mut().find(is_meant);
                    work.expect("its handler has run").ended += 1;
                }
                Action::Respond {
                    key,
                    to: ReplyTo::Agent(_, id),
                    response,
                } => {
                    let stop = match response.outcome {
                        Outcome::Cancelled(stop) => Some(stop),
                        _ => None,
                    };
                    let work = self.work.entry(key).or_default();
                    work.said = Some((stop, work.steps));
                    let payload = abp::response(&response);
                    self.host_end.send(abp::envelope(
                        "capabilities/call-result",
                        id.as_ref(),
                        0.0,
                        payload,
                    ));
                }
                Action::Answer { id, answer, .. } => {
                    let (kind, payload) = match answer {
                        Answer::Initialized(result) => {
                            ("initialize-result", abp::initialized(&json!({}), &result))
                        }
                        Answer::Cancelled(given, result) => (
                            "capabilities/cancel-result",
                            abp::cancel_response(&given, &result),
                        ),
                        Answer::ShutDown(_) => ("shutdown-result", json!({})),
                    };
                    self.host_end
                        .send(abp::envelope(kind, id.as_ref(), 0.0, payload));
                }
                _ => {}
            }
        }
        moved
    }

    fn start(&mut self, key: CallKey, id: &str, handler: &str, params: Json) {
        self.running.insert(key);
        let work = self.work.entry(key).or_default();
        work.id = id.into();
        work.started = true;
        let target = params["callId"].as_str().unwrap_or_default().to_string();
        match handler {
            "echo" | "checked" => self.finish(key, Ok(params)),
            "fail" => {
                let code = params["code"]
                    .as_str()
                    .unwrap_or("OPERATION_FAILED")
                    .to_string();
                let message = params["message"].as_str().unwrap_or_default().to_string();
                self.finish(key, Err(Error::new(code, message)));
            }
            "selfAbort" => {
                let error = Error::new(Code::OPERATION_FAILED, "I would rather not");
                self.finish(key, Err(error));
            }
            // A value that came as JSON inherits nothing.
            "look" => {
                let keys: Vec<_> = params
                    .as_object()
                    .into_iter()
                    .flat_map(|it| it.keys())
                    .collect();
                let report = json!({ "keys": keys, "polluted": params.get("polluted").is_some() });
                self.finish(key, Ok(report));
            }
            "started" => {
                let seen = self.seen.entry(target).or_default();
                if seen.started {
                    self.finish(key, Ok(json!({ "started": true })));
                } else {
                    seen.waiters.push(key);
                }
            }
            "release" => {
                self.release(&target);
                self.finish(key, Ok(json!({})));
            }
            "report" => {
                let seen = self.seen.entry(target).or_default();
                let mut report = json!({ "started": seen.started, "aborted": seen.stopped });
                if let Some(reason) = &seen.reason {
                    report["reason"] = json!(reason);
                }
                self.finish(key, Ok(report));
            }
            _ => {
                let seen = self.seen.entry(id.into()).or_default();
                seen.key = Some(key);
                seen.started = true;
                seen.stubborn = handler == "stubborn";
                let released = seen.released;
                for waiter in std::mem::take(&mut seen.waiters) {
                    self.finish(waiter, Ok(json!({ "started": true })));
                }
                if released {
                    self.release(id);
                }
            }
        }
    }

    /// Every handler that runs takes a step.
    pub fn step(&mut self) {
        for key in &self.running {
            self.work.entry(*key).or_default().steps += 1;
        }
    }

    pub fn release(&mut self, id: &str) {
        let seen = self.seen.entry(id.into()).or_default();
        seen.released = true;
        if let Some(key) = seen.key {
            self.finish(key, Ok(json!({ "released": true })));
        }
    }

    fn finish(&mut self, key: CallKey, result: Result<Json, Error<Json>>) {
        let told = self.seen.values().any(|it| it.key == Some(key));
        if self.running.remove(&key) {
            self.host.settle(key, result, told, self.now);
        }
    }
}

/// The schema of `test.checked`.
fn check(params: &Json) -> Result<(), Error<Json>> {
    let wrong =
        |code: Code, path: &str| Err(Error::new(code, "").with_details(json!({ "path": path })));
    match (&params["text"], &params["count"]) {
        (Json::Null, _) => wrong(Code::MISSING_PARAM, "text"),
        (Json::String(_), Json::Null) => Ok(()),
        (Json::String(_), count) if count.as_i64().is_some_and(|it| it >= 0) => Ok(()),
        (Json::String(_), _) => wrong(Code::INVALID_PARAMS, "count"),
        _ => wrong(Code::INVALID_TYPE, "text"),
    }
}
