//! Cancels that come early, late, twice, or many at once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::sleep;

use super::{confirmed, one_answer, settled_once, work_stops};
use crate::broken;
use crate::call::Answer;
use crate::context::{Context, MANY, PATIENCE, SILENCE, STEP};
use crate::finding::{Finding, Verdict};
use crate::peer::{Afterwards, Connection};

/// How many calls are cancelled at once.
const CROWD: usize = 50;

/// A cancel in the same turn as its call.
pub async fn same_turn(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = connection.call(cx.counting(MANY, STEP));
    let cancel = connection.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    let steps = match work_stops(cx, &call).await {
        Err(Finding::Broken(seen)) if !cx.traits().ordered && confirmation.is_none() => {
            return Err(Finding::NotRun(format!(
                "here a cancel may overtake its call: {seen}"
            )));
        }
        stopped => stopped?,
    };
    settled_once(cx, &call).await?;
    if let Some(confirmation) = confirmation
        && !confirmation.cancelled
    {
        broken!(
            "the cancel was answered with {}, and the call stopped after {steps} steps",
            confirmation.words()
        );
    }
    Ok(())
}

/// Two cancels of one call count as one.
pub async fn double(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    let first = connection.cancel(&call.id, None);
    let second = connection.cancel(&call.id, None);
    let (first, second) = (confirmed(cx, &first).await?, confirmed(cx, &second).await?);
    settled_once(cx, &call).await?;
    work_stops(cx, &call).await?;
    let third = connection.cancel(&call.id, None);
    let third = confirmed(cx, &third).await?;
    sleep(SILENCE).await;
    settled_once(cx, &call).await?;
    let said = |it: &Option<crate::call::Confirmation>| it.as_ref().map(|it| it.cancelled);
    if said(&first) != said(&second) || said(&first) != said(&third) {
        let words = [first, second, third]
            .into_iter()
            .flatten()
            .map(|it| it.words())
            .collect::<Vec<_>>();
        broken!(
            "three cancels of one call were answered with {}",
            words.join("; ")
        );
    }
    cx.still_answers(&connection).await
}

/// A cancel of a call that has ended changes nothing.
pub async fn late(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = connection.call(cx.counting(3, 1));
    let answer = one_answer(cx, &call).await?;
    let cancel = connection.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    sleep(SILENCE).await;
    if let [_, second, ..] = call.answers().as_slice() {
        broken!(
            "the call was answered with {}, and after its cancel once more, with {}",
            answer.words(),
            second.words()
        );
    }
    if let Some(confirmation) = confirmation {
        let prescribed = cx.traits().words.map(|words| words.ended);
        let is_other =
            prescribed.is_some_and(|words| confirmation.reason.as_deref() != Some(words));
        if confirmation.cancelled || is_other {
            broken!(
                "the call had completed, and its cancel was answered with {}",
                confirmation.words()
            );
        }
    }
    cx.still_answers(&connection).await
}

/// A cancel before its call does no harm: the call runs to its end, or does not work at all, and is answered accordingly.
pub async fn early(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    // A peer that takes up messages side by side may do well once.
    for _ in 0..5 {
        early_once(cx, &connection).await?;
    }
    cx.still_answers(&connection).await
}

async fn early_once(cx: &Context, connection: &Arc<dyn Connection>) -> Verdict {
    let mut new = cx.counting(20, STEP);
    // An id that the connection has not given yet.
    let id = if connection.call(cx.counting(1, 1)).id.is_string() {
        uuid::Uuid::new_v4().to_string().into()
    } else {
        (7_000_000 + cx.random(0..=99_999)).into()
    };
    new.id = Some(id);
    let cancel = connection.cancel(new.id.as_ref().unwrap_or(&serde_json::Value::Null), None);
    if !cx.traits().ordered {
        sleep(Duration::from_millis(100)).await;
    }
    let call = connection.call(new);
    confirmed(cx, &cancel).await?;
    let may_be_silent = cx.traits().afterwards == Afterwards::Silence && !cx.traits().ordered;
    let answer = call
        .answer(if may_be_silent {
            PATIENCE / 5
        } else {
            PATIENCE
        })
        .await;
    sleep(SILENCE).await;
    let steps = cx.steps(&call.key).await?;
    match answer {
        Some(answer) if answer.count() == Some(20) && steps == 20 => {}
        Some(Answer::Completed(_)) => {
            broken!("the call was answered with a result, and {steps} of 20 steps were counted")
        }
        None if cx.traits().afterwards != Afterwards::Silence => {
            broken!("the call was not answered, and {steps} steps were counted")
        }
        None if cx.traits().ordered => broken!(
            "a request was cancelled before it was sent, and was not answered; {steps} steps were counted"
        ),
        _ if steps >= 20 => broken!("the call was taken as cancelled, and ran to its end"),
        _ => {}
    }
    Ok(())
}

/// Many calls, each cancelled, in one turn.
pub async fn crowd(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let calls = (0..CROWD)
        .map(|_| connection.call(cx.counting(3 * MANY, STEP)))
        .collect::<Vec<_>>();
    // A cancel that overtakes its call is another matter.
    if let Some(call) = calls.last() {
        cx.begins(call).await?;
    }
    sleep(SILENCE).await;
    let cancels = calls
        .iter()
        .map(|call| connection.cancel(&call.id, None))
        .collect::<Vec<_>>();
    // A few at a time: a peer that is asked for fifty counts at once has no time to stop.
    sleep(SILENCE).await;
    for some in calls.chunks(5) {
        for stopped in join_all(some.iter().map(|call| cx.stops(&call.key, 3 * MANY, STEP))).await {
            stopped?;
        }
    }
    for cancel in &cancels {
        confirmed(cx, cancel).await?;
    }
    for settled in join_all(calls.iter().map(|call| settled_once(cx, call))).await {
        settled?;
    }
    cx.still_answers(&connection).await
}

/// A time limit ends a call as a cancel does.
pub async fn timeout(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    if !connection.has_timeout() {
        return Err(Finding::NotOffered("calls carry no time limit here".into()));
    }
    let mut new = cx.counting(MANY, STEP);
    new.timeout = Some(Duration::from_millis(150));
    let call = connection.call(new);
    match call.answer(PATIENCE / 2).await {
        Some(Answer::Cancelled { .. }) => {}
        Some(answer) => broken!(
            "after a timeout of 150 ms the call was answered with {}",
            answer.words()
        ),
        None => broken!(
            "a call with a timeout of 150 ms was not answered within {} s",
            (PATIENCE / 2).as_secs()
        ),
    }
    work_stops(cx, &call).await?;
    match one_answer(cx, &call).await? {
        Answer::Cancelled { .. } => Ok(()),
        answer => Err(Finding::Broken(format!(
            "after the timeout the call was answered with {}",
            answer.words()
        ))),
    }
}
