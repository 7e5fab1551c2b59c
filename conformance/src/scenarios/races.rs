//! Cancels that race with the end of their calls, drawn from a seed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::{Instant, sleep};

use super::confirmed;
use crate::broken;
use crate::call::{Answer, Call, Cancel, Confirmation};
use crate::context::{Context, PATIENCE};
use crate::finding::{Finding, Verdict};
use crate::peer::{Afterwards, Connection};

/// How many calls race at a time.
const AT_ONCE: usize = 20;
/// Steps of a call that cannot end before its cancel: one in ten is such a call.
const LONG: u64 = 600;

struct Race {
    steps: u64,
    ms: u64,
    is_long: bool,
    /// The call was answered before its cancel, or was not within the patience.
    is_late: bool,
    call: Arc<Call>,
    cancel: Arc<Cancel>,
}

/// Each call is answered at most once, what the answers say is what happened, and nothing works on.
pub async fn races(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let plans = (0..cx.races).map(|_| {
        let (steps, ms) = (cx.random(1..=12), cx.random(1..=5));
        // Up to a little longer than the call takes.
        let after = Duration::from_micros(cx.random(0..=steps * ms * 1300 + 2000));
        // Some calls cannot end before their cancel, and some have ended, however busy the machine is.
        match cx.random(1..=10) {
            1 => (LONG, 5, Some(after)),
            2 => (steps, ms, None),
            _ => (steps, ms, Some(after)),
        }
    });
    let plans = plans.collect::<Vec<_>>();
    let races = plans
        .into_iter()
        .map(|(steps, ms, after)| run(cx, &connection, steps, ms, after).boxed());
    let races = stream::iter(races.collect::<Vec<_>>())
        .buffer_unordered(AT_ONCE)
        .collect::<Vec<_>>()
        .await;
    if connection.is_over() {
        broken!("the connection ended");
    }
    // Long enough for the longest call to run to its end.
    sleep(Duration::from_millis(300)).await;
    let judged = races
        .iter()
        .map(|race| judge(cx, race).boxed())
        .collect::<Vec<_>>();
    let judged = stream::iter(judged)
        .buffer_unordered(AT_ONCE)
        .collect::<Vec<_>>()
        .await;
    let mut wrong = judged.into_iter().filter_map(Result::err);
    let Some(first) = wrong.next() else {
        return Ok(());
    };
    let number = 1 + wrong.count();
    match first {
        Finding::Broken(what) => Err(Finding::Broken(format!(
            "{number} of {} calls; the first: {what}",
            cx.races
        ))),
        other => Err(other),
    }
}

async fn run(
    cx: &Context,
    connection: &Arc<dyn Connection>,
    steps: u64,
    ms: u64,
    after: Option<Duration>,
) -> Race {
    let started = Instant::now();
    let call = connection.call(cx.counting(steps, ms));
    if steps == LONG && !cx.traits().ordered {
        // A cancel that overtakes its call may be ignored as unknown, and the call then runs for long. What is wrong with the
        // oracle is told when it judges.
        let _ = cx.begins(&call).await;
    }
    match after {
        Some(after) => sleep(after).await,
        None => drop(call.answer(PATIENCE).await),
    }
    let is_soon = started.elapsed() < Duration::from_millis(steps * ms / 3);
    let cancel = connection.cancel(&call.id, None);
    if cx.traits().afterwards == Afterwards::Silence {
        sleep(Duration::from_millis(steps.min(20) * ms + 20)).await;
    } else {
        call.answer(PATIENCE).await;
    }
    Race {
        steps,
        ms,
        // On a busy machine the call may have ended before its cancel was sent.
        is_long: steps == LONG && is_soon,
        is_late: after.is_none(),
        call,
        cancel,
    }
}

async fn judge(cx: &Context, race: &Race) -> Verdict {
    let Race {
        steps: total,
        ms,
        is_long,
        is_late,
        call,
        cancel,
    } = race;
    let until = Instant::now() + cx.grace;
    let mut steps = cx.steps(&call.key).await?;
    loop {
        let asked = Instant::now();
        sleep(Duration::from_millis(6 * ms)).await;
        let later = cx.steps(&call.key).await?;
        if later == steps {
            break;
        }
        if asked > until {
            broken!(
                "the work went on after everything was over: {steps} steps, then {later}, of {total}"
            );
        }
        steps = later;
    }
    let is_full = |answer: &Answer| answer.count() == Some(*total);
    if *is_long && steps == *total && !call.answers().iter().any(is_full) {
        broken!(
            "a call of {} s ran to its end, although it was cancelled soon after its start",
            total * ms / 1000
        );
    }
    let answers = call.answers();
    let confirmation = confirmed(cx, cancel).await?;
    let said_cancelled = confirmation.as_ref().is_some_and(|it| it.cancelled);
    match answers.as_slice() {
        [] if cx.traits().afterwards != Afterwards::Silence => {
            broken!("a call of {total} steps was not answered")
        }
        [] if *is_late => {
            broken!("a call of {total} steps was not answered, and not cancelled until then")
        }
        [] => {}
        [answer @ Answer::Completed(_)] => {
            if answer.count() != Some(*total) || steps != *total {
                broken!(
                    "a call of {total} steps was answered with {}, and {steps} were counted",
                    answer.words()
                );
            }
            if said_cancelled {
                broken!(
                    "the cancel was answered with cancelled: true, and its call with {}",
                    answer.words()
                );
            }
        }
        [answer @ Answer::Cancelled { stop }] => {
            if confirmation.as_ref().and_then(Confirmation::said) == Some(false) {
                broken!(
                    "the call was answered with {}, and its cancel with {}",
                    answer.words(),
                    confirmation.unwrap_or_default().words()
                );
            }
            if stop.as_deref() == Some("never-started") && steps > 0 {
                broken!("the call was said to have never started, and {steps} steps were counted");
            }
        }
        [answer @ Answer::Failed { .. }] if cx.traits().afterwards != Afterwards::AnyAnswer => {
            broken!("the call was answered with {}", answer.words())
        }
        [Answer::Failed { .. }] => {}
        [first, second, ..] => broken!(
            "a call was answered {} times: with {}, then with {}",
            answers.len(),
            first.words(),
            second.words()
        ),
    }
    Ok(())
}
