//! Each rule, for one call.

use crate::call::Stop;

use super::caller_side::as_said;
use super::facts::{Facts, HandlerEnd, Said, Told};
use super::scope::{AGENT_GRACE, Kind, PROOF, TIMEOUT};
use super::told::REASONS;
use super::world::World;

const NOT_FOUND: Said = Said::Refused(REASONS[0]);
const COMPLETED: Said = Said::Refused(REASONS[1]);

pub fn a_cancel_and_its_call_say_the_same(_: &World, call: &Facts) -> bool {
    match (call.first_answer, call.responded) {
        (None, _) => true,
        // Both come out of one event.
        (Some(_), None) => call.refused.is_some() || call.session.is_none(),
        (Some(said), Some(told)) => said == as_said(told),
    }
}

pub fn a_caller_is_told_the_same(_: &World, call: &Facts) -> bool {
    let Some(settled) = call.settled else {
        // Only the end of the call itself may be said before it.
        return call.parent.is_some()
            || call
                .asks
                .iter()
                .all(|ask| !matches!(ask.said, Some(Said::Cancelled(_))));
    };
    call.asks.iter().all(|ask| match (settled, ask.said) {
        (_, None | Some(Said::Error(_))) => true,
        (Told::Cancelled(stop), Some(said)) => said == Said::Cancelled(stop),
        // The outcome was unknown, and became known later or not at all.
        (Told::Failed("DISCONNECTED" | "TIMEOUT"), Some(_)) => true,
        (Told::Completed(_) | Told::Failed(_), Some(said)) => !matches!(said, Said::Cancelled(_)),
    })
}

pub fn nothing_beyond_what_was_seen(world: &World, call: &Facts) -> bool {
    let Some(told) = call.responded else {
        return true;
    };
    match told {
        Told::Completed(_) => call.end == Some(HandlerEnd::Returned),
        Told::Failed(_) => call.started == 0 || call.end == Some(HandlerEnd::Threw),
        // A whole has the grade of its weakest part.
        Told::Cancelled(stop) => {
            let mut own = world.own_grades(call).into_iter();
            let made = world.child_of_facts(call).is_some_and(|it| it.made);
            own.any(|own| call.below.map_or(own, |below| below.max(own)) == stop)
                || (stop == Stop::Abandoned && made)
        }
    }
}

impl World {
    pub fn child_of_facts(&self, call: &Facts) -> Option<&Facts> {
        let place = self.place(call)?;
        Some(&self.calls[self.child_of(place)?])
    }

    fn place(&self, call: &Facts) -> Option<usize> {
        self.calls.iter().position(|it| std::ptr::eq(it, call))
    }

    /// The grades that fit what was seen of a call's own handler.
    fn own_grades(&self, call: &Facts) -> Vec<Stop> {
        if call.started == 0 {
            return vec![Stop::NeverStarted];
        }
        match (call.wanted.kind, call.end) {
            (Kind::Future | Kind::Checked | Kind::Asked, _) => vec![Stop::Dropped],
            (_, Some(HandlerEnd::Terminated)) => vec![Stop::Terminated, Stop::Abandoned],
            (Kind::Hasty, None) => vec![Stop::Abandoned],
            (_, Some(_)) if call.ended_at_response => vec![Stop::Returned],
            _ => vec![Stop::Abandoned],
        }
    }
}

pub fn a_second_cancel_gives_the_same_answer(_: &World, call: &Facts) -> bool {
    let both = (call.asks[0].said, call.asks[1].said);
    let same = match both {
        (Some(Said::Cancelled(one)), Some(Said::Cancelled(other))) => one == other,
        _ => true,
    };
    call.other_answer.is_none() && same
}

pub fn the_handler_is_stopped_before_the_answer(_: &World, call: &Facts) -> bool {
    let cancelled = call.says_cancelled().is_some();
    let itself = matches!(
        call.end,
        Some(HandlerEnd::StoppedItself | HandlerEnd::Terminated)
    );
    !cancelled || call.started == 0 || call.signalled == 1 || itself
}

pub fn nobody_waits_longer_than_the_grace(world: &World, call: &Facts) -> bool {
    // A call waits for those below, for which this rule is checked too.
    let below = world.child_of_facts(call).is_some_and(Facts::in_flight);
    let Some(at) = call.times.signalled.filter(|_| call.in_flight() && !below) else {
        return true;
    };
    let forced = call.times.terminating.map(|at| at + PROOF);
    let proof = forced.filter(|_| call.wanted.kind == Kind::Worker);
    let end = proof.unwrap_or(at + call.wanted.kind.longest());
    world.host_has_seen < end
}

pub fn a_handler_has_its_grace(_: &World, call: &Facts) -> bool {
    !call.too_early
}

pub fn what_is_cancelled_never_starts(_: &World, call: &Facts) -> bool {
    call.started <= 1 && !call.started_after_end && !call.started_after_cause
}

pub fn what_does_not_fit_never_starts(_: &World, call: &Facts) -> bool {
    let checked = matches!(call.wanted.kind, Kind::Checked | Kind::Asked);
    call.started == 0 || !checked || call.fits == Some(true)
}

pub fn a_timeout_stops_the_work(world: &World, call: &Facts) -> bool {
    let due = call.times.accepted.map(|at| at + TIMEOUT);
    let over = call.wanted.timeout && due.is_some_and(|due| due <= world.host_has_seen);
    !over || !call.in_flight() || call.signalled > 0
}

pub fn a_rejection_counts_by_the_signal(_: &World, call: &Facts) -> bool {
    match (call.end, call.responded) {
        (Some(HandlerEnd::Threw), Some(told)) if call.ended_first => {
            told == Told::Failed("OPERATION_FAILED")
        }
        (Some(HandlerEnd::StoppedItself), Some(told)) => matches!(told, Told::Cancelled(_)),
        (Some(HandlerEnd::Threw), Some(told)) => matches!(told, Told::Cancelled(_)),
        _ => true,
    }
}

pub fn a_reused_id_is_refused(_: &World, call: &Facts) -> bool {
    match call.reused {
        None => true,
        Some("INVALID_PARAMS") => !call.reused_over,
        Some("NOT_INITIALIZED") => call.reused_over,
        Some(_) => call.evicted,
    }
}

pub fn nobody_else_stops_a_call(_: &World, call: &Facts) -> bool {
    (call.signalled == 0 && call.says_cancelled().is_none()) || call.cause
}

pub fn leaves_first(world: &World, call: &Facts) -> bool {
    // Who fails or returns waits for nobody, and who is abandoned is waited for no longer.
    let seen = call
        .says_cancelled()
        .is_some_and(|it| it != Stop::Abandoned);
    let open = world.child_of_facts(call).is_some_and(Facts::in_flight);
    !call.signalled_before_child && !(seen && open)
}

pub fn nothing_is_left_running(world: &World, call: &Facts) -> bool {
    let child = world.child_of_facts(call);
    let runs = child.is_some_and(|it| it.in_flight() && it.signalled == 0);
    call.responded.is_none() || !runs
}

pub fn the_end_of_a_session_stops_its_calls(world: &World, call: &Facts) -> bool {
    let side = &world.sides[usize::from(call.agent)];
    let over = side.over || call.session != Some(side.session);
    !call.in_flight() || !over || call.signalled > 0 || call.end.is_some()
}

pub fn a_loss_settles_what_is_pending(world: &World, call: &Facts) -> bool {
    let side = &world.sides[usize::from(call.agent)];
    let gone = side.closed || (side.lost && side.noticed);
    let settled = call.settled.is_some() || !call.sent;
    let said = call.asks.iter().all(|ask| !ask.asked || ask.said.is_some());
    !gone || (settled && said)
}

pub fn without_a_session_nothing_is_done(world: &World, call: &Facts) -> bool {
    let over = world.sides[usize::from(call.agent)].over;
    match call.refused {
        None => true,
        Some("NOT_INITIALIZED") => over,
        Some("PRECONDITION_FAILED" | "CAPABILITY_UNAVAILABLE") => call.parent.is_some(),
        Some(_) => false,
    }
}

pub fn nothing_follows_the_end(_: &World, call: &Facts) -> bool {
    let open = call.question_open && (call.signalled > 0 || call.responded.is_some());
    !call.progress_after_end && !call.question_after_end && !open
}

pub fn confirmations_come_before_the_response(_: &World, call: &Facts) -> bool {
    call.open_at_response == 0
}

pub fn cancelled_is_a_confirmed_fact(_: &World, call: &Facts) -> bool {
    let confirmed = |stop: Stop| match call.responded {
        Some(told) => told == Told::Cancelled(stop),
        None => !call.sent && stop == Stop::NeverStarted && call.session.is_none(),
    };
    let by_call = match call.settled {
        Some(Told::Cancelled(stop)) => confirmed(stop),
        Some(Told::Completed(data)) => call.responded == Some(Told::Completed(data)),
        _ => true,
    };
    by_call
        && call.asks.iter().all(|ask| match ask.said {
            Some(Said::Cancelled(stop)) => confirmed(stop),
            Some(COMPLETED) => match call.responded {
                Some(told) => !matches!(told, Told::Cancelled(_)),
                None => call.refused.is_some(),
            },
            _ => true,
        })
}

pub fn an_agent_waits_no_longer_than_its_grace(world: &World, call: &Facts) -> bool {
    let seen = world.sides[usize::from(call.agent)].seen;
    let over = |at: Option<f64>, wait: f64| at.is_some_and(|at| at + wait <= seen);
    let asks = call.asks.iter().zip(call.times.asked);
    let call_open = call.settled.is_none() && call.parent.is_none() && call.made;
    let late = call_open
        && (over(call.times.sent, TIMEOUT + AGENT_GRACE) && call.wanted.timeout
            || over(call.times.aborted, AGENT_GRACE) && call.sent);
    !late
        && asks
            .into_iter()
            .all(|(ask, at)| ask.said.is_some() || !over(at, AGENT_GRACE))
}

pub fn what_has_arrived_is_said(world: &World, call: &Facts) -> bool {
    // A session that no longer has the call, or is another one, knows no such operation.
    let session = Some(world.sides[usize::from(call.agent)].session);
    let forgotten = call.evicted || call.session != session;
    call.asks.iter().all(|ask| match (ask.said, ask.knew) {
        // The caller may know more than a session that nobody can reach.
        (Some(Said::Error("TIMEOUT" | "DISCONNECTED")), Some(_)) => false,
        (Some(NOT_FOUND), Some(Told::Completed(_) | Told::Failed(_))) if forgotten => true,
        (Some(said @ (Said::Cancelled(_) | Said::Refused(_))), Some(told)) => said == as_said(told),
        _ => true,
    })
}

pub fn the_grade_fits_the_handler(_: &World, call: &Facts) -> bool {
    let Some(told) = call.responded else {
        return true;
    };
    let stopped = call.signalled > 0 && !call.hurried;
    match (call.end, told) {
        (Some(HandlerEnd::Returned), Told::Completed(_)) => !call.knows || call.ended_first,
        (Some(HandlerEnd::Returned), Told::Cancelled(stop)) if stopped && !call.knows => {
            // It came after its call was answered.
            !call.ended_at_response || stop == Stop::Abandoned && call.wanted.kind == Kind::Hasty
        }
        _ => true,
    }
}

pub fn a_late_end_is_reported_once(_: &World, call: &Facts) -> bool {
    let abandoned = call.says_cancelled() == Some(Stop::Abandoned);
    call.ended_notices == 0 || (call.ended_notices == 1 && abandoned)
}

pub fn each_settles_once(_: &World, call: &Facts) -> bool {
    call.responses <= 1 && call.settles <= 1 && call.signalled <= 1
}
