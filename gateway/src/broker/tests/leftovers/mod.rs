//! Every end of a call, at every phase of it, leaves nothing behind.

mod scene;

use std::sync::Arc;

use super::*;
use crate::broker::calls::News;
use crate::broker::sessions::Agent;
use crate::wire::Request;
use scene::{AGENT, APP, Caller, Scene};

/// How far a call has come when its end comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Its app has not registered.
    Unregistered,
    /// It waits for its session to open.
    Opening,
    /// The app has it.
    Sent,
    /// The app has told its progress.
    Progressed,
    /// The app has asked its caller something.
    Asked,
    /// The app has lost its connection, and may come back.
    Suspended,
    /// It is cancelled while the app does not read its messages.
    Stuck,
    /// Its caller has cancelled it, and the app has not answered.
    Cancelling,
    /// Its caller has cancelled it again.
    CancellingTwice,
    /// Somebody else has cancelled it, twice, and the app has not answered.
    Revoking,
    /// Both have.
    Both,
    /// Its timeout has passed, and the gateway has cancelled it.
    Overdue,
    /// The app has confirmed the cancel, and not answered the call.
    Confirmed,
    /// The app has refused the cancel.
    Refused,
    /// Its agent has gone, and the app is asked how it ends.
    Leaving,
    /// It has completed, and is remembered.
    Completed,
    /// It is cancelled and abandoned, and its handler may still end.
    Abandoned,
    /// The app has answered neither the call nor its cancel in time.
    GivenUp,
}

const PHASES: [Phase; 18] = [
    Phase::Unregistered,
    Phase::Opening,
    Phase::Sent,
    Phase::Progressed,
    Phase::Asked,
    Phase::Suspended,
    Phase::Stuck,
    Phase::Cancelling,
    Phase::CancellingTwice,
    Phase::Revoking,
    Phase::Both,
    Phase::Overdue,
    Phase::Confirmed,
    Phase::Refused,
    Phase::Leaving,
    Phase::Completed,
    Phase::Abandoned,
    Phase::GivenUp,
];

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Answered,
    Failed,
    AnsweredAsCancelled,
    /// The app answers in a way that nobody can read.
    Unreadable,
    /// The app answers with a message that is none.
    Illegible,
    NotUnderstood,
    CancelledByCaller,
    CancelledByOperator,
    /// The caller cancels, and the app never answers.
    CancelledInVain,
    /// Nobody answers any more, and all deadlines pass.
    Time,
    /// The app is lost, or the worker that has it.
    AppGone,
    AgentGone,
    /// The agent has gone, and then the app.
    BothGone,
    /// The worker of the app has lost the agent.
    AgentLost,
    /// Too much waited for the worker of the app.
    Emptied,
    Drain,
    Shutdown,
}

const ENDS: [End; 17] = [
    End::Answered,
    End::Failed,
    End::AnsweredAsCancelled,
    End::Unreadable,
    End::Illegible,
    End::NotUnderstood,
    End::CancelledByCaller,
    End::CancelledByOperator,
    End::CancelledInVain,
    End::Time,
    End::AppGone,
    End::AgentGone,
    End::BothGone,
    End::AgentLost,
    End::Emptied,
    End::Drain,
    End::Shutdown,
];

const CALLERS: [Caller; 6] = [
    Caller::Agent,
    Caller::AgentElsewhere,
    Caller::Front(Dialect::Mcp),
    Caller::Front(Dialect::JsonRpc),
    Caller::Front(Dialect::Rap),
    Caller::Asked(Dialect::Mcp),
];

impl Scene {
    fn come_to(&mut self, phase: Phase) {
        if phase != Phase::Unregistered {
            self.register();
        }
        self.join();
        if matches!(phase, Phase::Unregistered | Phase::Opening) {
            return self.call();
        }
        self.open();
        match phase {
            Phase::Unregistered | Phase::Opening | Phase::Sent => {}
            Phase::Progressed => self.progress(),
            Phase::Asked => self.ask(),
            Phase::Suspended => self.suspended(true),
            Phase::Stuck => {
                self.backlog(Backlog::Full);
                self.cancel("x");
            }
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
            Phase::Overdue => {
                self.deadline();
            }
            Phase::Confirmed => {
                self.cancel("x");
                let cancelled = json!({ "callId": "c", "cancelled": true });
                self.answer("capabilities/cancel", cancelled);
            }
            Phase::Refused => {
                self.cancel("x");
                self.refuse_cancel();
            }
            Phase::Leaving => self.gone(AGENT),
            Phase::Completed => self.answer_all(&json!({ "success": true })),
            Phase::Abandoned => {
                self.cancel("x");
                self.confirm_all("abandoned");
            }
            Phase::GivenUp => {
                self.cancel("x");
                self.revoke();
                self.pass_time();
            }
        }
    }

    fn suspended(&mut self, suspended: bool) {
        let peer = PeerId(APP);
        self.event(Event::Suspended { peer, suspended });
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
            End::Illegible => {
                self.illegible();
                self.answer_all(&json!({ "success": true }));
            }
            End::NotUnderstood => {
                self.not_understood();
                self.answer_all(&json!({ "success": true }));
            }
            End::CancelledByCaller => {
                self.cancel("z");
                self.confirm_all("dropped");
            }
            End::CancelledByOperator => {
                self.revoke();
                self.confirm_all("dropped");
            }
            End::CancelledInVain => self.cancel("z"),
            End::Time => {}
            End::AppGone => self.gone(APP),
            End::AgentGone => self.gone(AGENT),
            End::BothGone => {
                self.gone(AGENT);
                self.gone(APP);
            }
            End::AgentLost => self.agent_lost(),
            End::Emptied => self.event(Event::Emptied { peer: PeerId(APP) }),
            End::Drain => {
                self.event(Event::Drain);
                self.answer_all(&json!({ "success": true }));
            }
            End::Shutdown => self.event(Event::Shutdown),
        }
    }
}

/// Whether that end can come, at that phase, to a call of that caller to an app there.
fn happens(caller: Caller, seat: Seat, phase: Phase, end: End) -> bool {
    if caller == Caller::AgentElsewhere {
        // Such agents come for the apps of this worker. Their own worker has the calls, and its cancels and
        // timeouts come as theirs.
        let is_its_own = matches!(phase, Phase::Revoking | Phase::Both | Phase::Overdue);
        if seat == Seat::Elsewhere || phase == Phase::Unregistered || is_its_own {
            return false;
        }
    }
    match end {
        End::AgentLost | End::Emptied => seat == Seat::Elsewhere,
        End::Illegible | End::NotUnderstood => seat != Seat::Own,
        End::CancelledByOperator => caller != Caller::AgentElsewhere,
        _ => true,
    }
}

/// How much of each kind is kept of calls that are not over.
fn of_calls(broker: &Broker) -> Vec<(&'static str, usize)> {
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
        ("cancels", sum(|it| it.pending.waiting())),
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

/// How much is kept of the agents and sessions that the calls had.
fn of_agents(broker: &Broker) -> Vec<(&'static str, usize)> {
    let apps = || broker.apps.all.values();
    let asked = broker.apps.asked.values().map(|it| it.bytes());
    let [sessions, sinks] = broker.calls.kept_of_sessions();
    vec![
        ("agents", broker.sessions.all.len()),
        ("deadlines of agents", broker.sessions.deadlines.len()),
        ("connections", broker.sessions.connected.taken()),
        ("sessions", apps().map(|app| app.sessions.taken()).sum()),
        ("names", apps().map(|app| app.agents.len()).sum()),
        ("unbound", apps().map(|app| app.unbound.len()).sum()),
        ("callIds of agents", sessions),
        ("callers", sinks),
        ("bytes of questions", asked.sum()),
    ]
}

/// Goes through one cell of the table. Returns what is left of it.
fn left_of(caller: Caller, seat: Seat, phase: Phase, end: End) -> Vec<(&'static str, usize)> {
    let mut scene = Scene::new(caller, seat);
    scene.come_to(phase);
    scene.end(end);
    // The app reads its messages again.
    scene.suspended(false);
    scene.backlog(Backlog::Short);
    // An agent whose app has not answered waits as long as it wants.
    if !scene.is_internal() && matches!(end, End::Time | End::CancelledInVain) {
        scene.gone(AGENT);
    }
    scene.pass_time();
    // What waits for the app beside the call, such as the opening of the session.
    scene.answer_all(&json!({ "success": true }));
    let mut left = of_calls(&scene.bench.broker);
    // The late end of an abandoned call is waited for as long as its session lasts.
    scene.gone(AGENT);
    scene.pass_time();
    scene.ended_late();
    left.extend(of_calls(&scene.bench.broker));
    left.extend(of_agents(&scene.bench.broker));
    left.push(("runs in flight in metrics", scene.counted.unsigned_abs()));
    left.push(("waiting callers", scene.bench.steps.len()));
    left.push(("waiting operators", scene.bench.revoked.len()));
    let run = scene.run.map(|run| scene.bench.broker.runs().get(run));
    let is_open = run.is_some_and(|run| run.is_none_or(|run| !run.state.is_over()));
    left.push(("runs that are not over", is_open.into()));
    // What is remembered goes with its time.
    let [calls, ids, live, ended] = scene.bench.broker.calls.kept_for_ever();
    left.push(("calls for ever", calls + ids + live + ended));
    scene.gone(APP);
    left.push(("apps", scene.bench.broker.apps.all.len()));
    left.push(("offers", scene.bench.broker.apps.registered.all().bytes));
    left.retain(|(_, count)| *count > 0);
    left
}

#[test]
fn every_end_of_a_call_at_every_phase_leaves_nothing_behind() {
    let (mut gone_through, mut left) = (0, Vec::new());
    for caller in CALLERS {
        for seat in [Seat::Connected, Seat::Own, Seat::Elsewhere] {
            for phase in PHASES {
                for end in ENDS {
                    if happens(caller, seat, phase, end) {
                        gone_through += 1;
                        let of_it = left_of(caller, seat, phase, end);
                        left.push((caller, seat, phase, end, of_it));
                    }
                }
            }
        }
    }
    left.retain(|(.., of_it)| !of_it.is_empty());
    for it in left.iter().take(40) {
        println!("{it:?}");
    }
    assert_eq!((left.len(), gone_through), (0, 4_414));
}
