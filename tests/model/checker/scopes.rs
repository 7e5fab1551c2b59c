//! The scopes that the tests go through.

use super::scope::{Kind, Scope, Wanted};

const FUTURE: Wanted = Wanted::of(Kind::Future);
const CHECKED: Wanted = Wanted::of(Kind::Checked);
const ASKED: Wanted = Wanted::of(Kind::Asked);
const SCRIPT: Wanted = Wanted::of(Kind::Script);
const SINGLE: Wanted = Wanted::of(Kind::Single);
const WORKER: Wanted = Wanted::of(Kind::Worker);
const HASTY: Wanted = Wanted::of(Kind::Hasty);

/// Scopes that are gone through as a whole.
pub fn small() -> Vec<Scope> {
    let of = |name, calls: &[&[Wanted]]| Scope::new(name, calls);
    vec![
        Scope {
            ticks: 2,
            app_cancels: 1,
            stops_itself: true,
            ..of("a future with a timeout", &[&[FUTURE.timeout().aborts()]])
        },
        Scope {
            ticks: 2,
            app_cancels: 1,
            gives_up: true,
            stops_itself: true,
            ..of("a script with a timeout", &[&[SCRIPT.timeout().aborts()]])
        },
        Scope {
            ticks: 1,
            shutdowns: 1,
            ..of(
                "parameters that are checked",
                &[&[CHECKED.timeout().aborts()]],
            )
        },
        Scope {
            ticks: 1,
            app_cancels: 1,
            shutdowns: 1,
            ..of(
                "a call that a person must allow",
                &[&[ASKED.timeout().aborts()]],
            )
        },
        Scope {
            ticks: 1,
            ..of(
                "a script that calls what a person must allow",
                &[&[SCRIPT.cancels(1).with_child(Kind::Asked)]],
            )
        },
        Scope {
            ticks: 3,
            gives_up: true,
            ..of("a worker with a timeout", &[&[WORKER.timeout()]])
        },
        Scope {
            ticks: 1,
            ..of("a script without grace", &[&[HASTY.timeout().aborts()]])
        },
        Scope {
            ticks: 2,
            reports: 1,
            questions: 1,
            at_once: true,
            ..of("a script that asks and reports", &[&[SCRIPT]])
        },
        Scope {
            ticks: 2,
            app_cancels: 1,
            ..of(
                "a script that calls a future",
                &[&[SCRIPT.with_child(Kind::Future)]],
            )
        },
        Scope {
            ticks: 2,
            app_cancels: 1,
            ..of(
                "a future that calls a script",
                &[&[FUTURE.with_child(Kind::Script)]],
            )
        },
        Scope {
            ticks: 3,
            ..of(
                "a script that calls a worker",
                &[&[SCRIPT.cancels(1).with_child(Kind::Worker)]],
            )
        },
        Scope {
            ticks: 1,
            ..of(
                "a handler that calls itself",
                &[&[
                    SINGLE.cancels(1).with_child(Kind::Single),
                    SINGLE.cancels(1),
                ]],
            )
        },
        Scope {
            ticks: 1,
            shutdowns: 1,
            ..of("a shutdown", &[&[SCRIPT.cancels(1), FUTURE.cancels(1)]])
        },
        Scope {
            cuts: 1,
            ticks: 1,
            ..of(
                "a lost connection",
                &[&[SCRIPT.cancels(1), FUTURE.cancels(1)]],
            )
        },
        Scope {
            cuts: 1,
            resumes: true,
            ..of(
                "a lost connection that comes again",
                &[&[SCRIPT.cancels(1), FUTURE.cancels(1).aborts()]],
            )
        },
        Scope {
            losses: 2,
            ticks: 2,
            ..of("lost messages", &[&[SCRIPT.timeout()]])
        },
        Scope {
            repeats: 2,
            ..of("answers that come twice", &[&[SCRIPT, FUTURE.cancels(1)]])
        },
        Scope {
            reuses: 1,
            shutdowns: 1,
            ..of(
                "callIds that are used again",
                &[&[SCRIPT.cancels(1)], &[SCRIPT.cancels(1)]],
            )
        },
        Scope {
            remembered: 1,
            ..of(
                "a session that remembers one call",
                &[&[FUTURE, FUTURE.cancels(1)]],
            )
        },
        of("two agents, three futures", &[&[FUTURE, FUTURE], &[FUTURE]]),
        of(
            "two agents, three calls in turn",
            &[
                &[SINGLE.cancels(1), SINGLE.cancels(1)],
                &[SINGLE.cancels(1)],
            ],
        ),
    ]
}

/// Too large to go through as a whole: runs at random.
pub fn large() -> Vec<Scope> {
    let all = [
        SCRIPT.timeout().aborts().with_child(Kind::Future),
        FUTURE.with_child(Kind::Script),
        SINGLE.timeout(),
    ];
    let more = [SINGLE.aborts(), WORKER.timeout(), CHECKED.timeout()];
    let scope = |name| Scope {
        ticks: 8,
        app_cancels: 2,
        reports: 2,
        questions: 2,
        stops_itself: true,
        ..Scope::new(name, &[&all, &more])
    };
    vec![
        Scope {
            gives_up: true,
            reuses: 1,
            repeats: 1,
            ..scope("two agents with three calls each")
        },
        Scope {
            shutdowns: 2,
            cuts: 1,
            ..scope("two agents that leave")
        },
        Scope {
            cuts: 3,
            resumes: true,
            at_once: true,
            ..scope("two agents that come again")
        },
        Scope {
            remembered: 1,
            ..scope("two agents of which one call is remembered")
        },
    ]
}

/// Two agents, three calls, two cancels of each: minutes each.
pub fn whole() -> Vec<Scope> {
    let of = |name, calls: &[&[Wanted]]| Scope::new(name, calls);
    vec![
        of("two agents, three scripts", &[&[SCRIPT, SCRIPT], &[SCRIPT]]),
        of(
            "two agents, three calls in turn",
            &[&[SINGLE, SINGLE], &[SINGLE]],
        ),
        of(
            "two agents, two calls in turn and a future",
            &[&[SINGLE, FUTURE], &[SINGLE]],
        ),
        Scope {
            ticks: 1,
            ..of(
                "two agents, a script and a future with timeouts",
                &[&[SCRIPT.timeout()], &[FUTURE.timeout()]],
            )
        },
        Scope {
            shutdowns: 1,
            ..of(
                "two agents, and a shutdown",
                &[&[SCRIPT, FUTURE], &[SCRIPT.cancels(1)]],
            )
        },
        Scope {
            cuts: 1,
            resumes: true,
            ..of(
                "two agents, and a lost connection",
                &[&[SCRIPT, FUTURE], &[SCRIPT.cancels(1)]],
            )
        },
    ]
}

/// So small that each way to a state can be gone.
pub fn tiny() -> Vec<Scope> {
    let of = |name, calls: &[&[Wanted]]| Scope::new(name, calls);
    vec![
        of("two futures", &[&[FUTURE.cancels(1), FUTURE.cancels(0)]]),
        of("two agents", &[&[SCRIPT.cancels(0)], &[SCRIPT.cancels(0)]]),
        Scope {
            ticks: 2,
            ..of("a script", &[&[SCRIPT.cancels(1)]])
        },
        of("two in turn", &[&[SINGLE.cancels(0), SINGLE.cancels(0)]]),
    ]
}
