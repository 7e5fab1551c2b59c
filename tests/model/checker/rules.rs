//! The rules of a call, one by one. Each looks at what has been seen, and says whether it holds.

use crate::call::Stop;

use super::each_rule::*;
use super::facts::{Facts, HandlerEnd};
use super::world::World;

/// A rule, its words, and whether it holds for a call.
pub type Rule = (&'static str, fn(&World, &Facts) -> bool);

/// The rules that hold after each event.
pub const RULES: &[Rule] = &[
    (
        "1: cancel answers cancelled:true if and only if the response does, and both say the same of the stop",
        a_cancel_and_its_call_say_the_same,
    ),
    (
        "1: a caller is told the same by its call and by its cancels",
        a_caller_is_told_the_same,
    ),
    (
        "1: what is said never goes beyond what was seen",
        nothing_beyond_what_was_seen,
    ),
    (
        "2: a second cancel gives the same answer as the first",
        a_second_cancel_gives_the_same_answer,
    ),
    (
        "4: when cancel returns, the future is dropped or the signal has fired",
        the_handler_is_stopped_before_the_answer,
    ),
    (
        "4: the confirmation waits for the handler's end, no longer than the grace",
        nobody_waits_longer_than_the_grace,
    ),
    (
        "4: a handler that was told has its grace to end",
        a_handler_has_its_grace,
    ),
    (
        "5: a call that is cancelled before its start never starts, and no call starts twice",
        what_is_cancelled_never_starts,
    ),
    (
        "a call starts once its parameters are known to fit",
        what_does_not_fit_never_starts,
    ),
    (
        "6: a timeout is enforced by the host, and really stops the work",
        a_timeout_stops_the_work,
    ),
    (
        "7: a handler that rejects after its signal has fired counts as cancelled, before that it is an error",
        a_rejection_counts_by_the_signal,
    ),
    (
        "8: a reused callId is refused with INVALID_PARAMS",
        a_reused_id_is_refused,
    ),
    (
        "9: a call is stopped for a reason of its own session only",
        nobody_else_stops_a_call,
    ),
    (
        "10: a tree is told leaves first, and a parent ends after its children",
        leaves_first,
    ),
    (
        "10: calls that a handler made and did not wait for are stopped with its end",
        nothing_is_left_running,
    ),
    (
        "11: the end of a session stops what is in flight",
        the_end_of_a_session_stops_its_calls,
    ),
    (
        "11: a lost transport settles every pending call on the agent, never as cancelled",
        a_loss_settles_what_is_pending,
    ),
    (
        "12: no session: cancel and call give NOT_INITIALIZED",
        without_a_session_nothing_is_done,
    ),
    (
        "13: progress and questions end with their call",
        nothing_follows_the_end,
    ),
    (
        "14: cancel-result, then call-result",
        confirmations_come_before_the_response,
    ),
    (
        "15: cancelled:true is only said of a confirmed fact",
        cancelled_is_a_confirmed_fact,
    ),
    (
        "15: a host that does not answer leaves the outcome unknown, in time",
        an_agent_waits_no_longer_than_its_grace,
    ),
    (
        "19: whoever asks again is told what the app has confirmed",
        what_has_arrived_is_said,
    ),
    (
        "grades: one that was not told and fulfils has completed; one that was told is returned",
        the_grade_fits_the_handler,
    ),
    (
        "grades: a late end is reported once, and only of an abandoned call",
        a_late_end_is_reported_once,
    ),
    (
        "each call has one response, and settles once",
        each_settles_once,
    ),
];

/// Nothing ever waits for ever: at the end of a run everything is answered, and nothing is held.
pub fn nothing_waits_for_ever(world: &mut World) -> Option<&'static str> {
    let calls = world.calls.iter();
    let open = calls.filter(|it| it.in_flight()).count();
    if open > 0 || world.host.in_flight() > 0 {
        return Some("11: nothing ever waits for ever: a call has no response");
    }
    if world.host.next_deadline().is_some() {
        return Some("16: timers are removed: the host holds a deadline");
    }
    if world.host.pending_elicitations() > 0 {
        return Some("13: a question outlives its call");
    }
    for side in &mut world.sides {
        if side.state.pending() > 0 || side.state.pending_cancels() > 0 {
            return Some("11: nothing ever waits for ever: an agent waits");
        }
        if side.state.next_deadline().is_some() {
            return Some("16: timers are removed: an agent holds a deadline");
        }
        if side.shut_early {
            return Some("11: shutdown answers what is in flight before the session ends");
        }
    }
    let unreported = world.calls.iter().any(|call| {
        let session = world.sides[usize::from(call.agent)].session;
        let known = !world.sides[usize::from(call.agent)].over && call.session == Some(session);
        let child = world.child_of_facts(call).is_some_and(|it| it.made);
        let settled = call.end.is_some_and(|it| it != HandlerEnd::Terminated);
        let abandoned = call.says_cancelled() == Some(Stop::Abandoned);
        abandoned && settled && known && !child && call.ended_notices == 0
    });
    if unreported {
        return Some("grades: a handler that ends after it was abandoned is reported");
    }
    let unsaid = world.calls.iter().any(|call| {
        let unsettled = call.made && call.parent.is_none() && call.settles != 1;
        unsettled || call.asks.iter().any(|ask| ask.asked && ask.said.is_none())
    });
    unsaid.then_some("11: nothing ever waits for ever: a caller was told nothing")
}

/// The first rule that is broken.
pub fn broken(world: &mut World) -> Option<&'static str> {
    if let Some(oddity) = world.oddity {
        return Some(oddity);
    }
    let asked = world.host.pending_elicitations() > 0;
    if world.host.in_flight() == 0 && !asked && world.host.next_deadline().is_some() {
        return Some("16: timers are removed: the host holds a deadline of no call");
    }
    for side in &mut world.sides {
        let waits = side.state.pending() + side.state.pending_cancels() > 0 || side.shutting;
        if !waits && side.state.next_deadline().is_some() {
            return Some("16: timers are removed: an agent holds a deadline of no call");
        }
    }
    let world = &*world;
    let mut calls = world
        .calls
        .iter()
        .filter(|it| it.made || it.session.is_some());
    calls.find_map(|call| {
        let broken = RULES.iter().find(|(_, holds)| !holds(world, call));
        broken.map(|(words, _)| *words)
    })
}
