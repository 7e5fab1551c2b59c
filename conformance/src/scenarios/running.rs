//! A call that runs, and its cancel.

use tokio::time::sleep;

use super::{confirmed, one_answer, settled, work_stops};
use crate::broken;
use crate::call::{Answer, What};
use crate::context::{Context, PATIENCE, SILENCE, STEP};
use crate::finding::{Finding, Verdict};
use crate::peer::Afterwards;

/// A call that nobody cancels is answered once, with its result.
pub async fn completes(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = connection.call(cx.counting(5, 2));
    let answer = one_answer(cx, &call).await?;
    if answer.count() != Some(5) {
        broken!("a call of 5 steps was answered with {}", answer.words());
    }
    let steps = cx.steps(&call.key).await?;
    if steps != 5 {
        broken!("the call was answered with 5 steps, and {steps} were counted");
    }
    match connection.stray().first() {
        Some(stray) => Err(Finding::Broken(format!(
            "a message that answers nothing: {stray}"
        ))),
        None => Ok(()),
    }
}

/// Progress increases, and ends with its call.
pub async fn progress(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = connection.call(cx.counting(8, 15));
    one_answer(cx, &call).await?;
    let progress = call.progress();
    if progress.is_empty() {
        return Err(Finding::NotOffered("the tool reports no progress".into()));
    }
    if let Some(pair) = progress.windows(2).find(|pair| pair[1] <= pair[0]) {
        broken!("progress {} came after {}", pair[1], pair[0]);
    }
    let events = call.events();
    let answered = events
        .iter()
        .position(|event| matches!(event.what, What::Answer(_)));
    if events
        .iter()
        .skip(answered.unwrap_or(0))
        .any(|event| matches!(event.what, What::Progress(_)))
    {
        broken!("progress came after the answer");
    }
    Ok(())
}

/// The work of a cancelled call stops.
pub async fn stops(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    connection.cancel(&call.id, Some("no longer needed"));
    work_stops(cx, &call).await?;
    Ok(())
}

/// A cancelled call is answered as the dialect says.
pub async fn answered(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    connection.cancel(&call.id, None);
    settled(cx, &call).await
}

/// A cancelled call has one answer, which may also be its result.
pub async fn answered_in_any_way(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    // Three seconds: a peer that does not know cancels answers when the work is done.
    let call = connection.call(cx.counting(300, STEP));
    cx.begins(&call).await?;
    connection.cancel(&call.id, None);
    match one_answer(cx, &call).await? {
        Answer::Cancelled { .. } | Answer::Completed(_) => Ok(()),
        answer => Err(Finding::Broken(format!(
            "the cancelled call was answered with {}",
            answer.words()
        ))),
    }
}

/// A confirmation agrees with the answer of its call, and with what happened.
pub async fn agrees(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    let cancel = connection.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    if let Some(confirmation) = &confirmation
        && !confirmation.cancelled
    {
        broken!(
            "the cancel of a call that works was answered with {}",
            confirmation.words()
        );
    }
    settled(cx, &call).await?;
    work_stops(cx, &call).await?;
    Ok(())
}

/// The confirmation comes before the answer of its call.
pub async fn confirmed_first(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    let cancel = connection.cancel(&call.id, None);
    confirmed(cx, &cancel).await?;
    one_answer(cx, &call).await?;
    let answered = call
        .events()
        .iter()
        .find(|event| matches!(event.what, What::Answer(_)))
        .map(|event| event.at);
    match (cancel.confirmed_at(), answered) {
        (Some(confirmed), Some(answered)) if confirmed > answered => Err(Finding::Broken(
            "the answer of the call came before that of the cancel".into(),
        )),
        _ => Ok(()),
    }
}

/// No progress comes after a cancelled call has been settled.
pub async fn progress_ends(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    if call.progress().is_empty() {
        sleep(SILENCE).await;
    }
    if call.progress().is_empty() {
        return Err(Finding::NotOffered("the tool reports no progress".into()));
    }
    connection.cancel(&call.id, None);
    if cx.traits().afterwards == Afterwards::Silence {
        work_stops(cx, &call).await?;
    } else {
        if call.answer(PATIENCE).await.is_none() {
            return Err(Finding::NotRun(
                "the cancelled call was not answered in time".into(),
            ));
        }
    }
    let before = call.progress().len();
    sleep(SILENCE).await;
    match call.progress().len() - before {
        0 => Ok(()),
        more => Err(Finding::Broken(format!(
            "{more} more notifications of progress came after the call was settled"
        ))),
    }
}

/// A cancel concerns its call alone.
pub async fn neighbours(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let before = connection.call(cx.counting(40, STEP));
    let call = cx.working(&connection).await?;
    let after = connection.call(cx.counting(40, STEP));
    cx.begins(&after).await?;
    connection.cancel(&call.id, None);
    for neighbour in [&before, &after] {
        match neighbour.answer(PATIENCE).await {
            Some(answer) if answer.count() == Some(40) => {}
            Some(answer) => broken!(
                "another call of 40 steps was answered with {}",
                answer.words()
            ),
            None => broken!(
                "another call was not answered within {} s",
                PATIENCE.as_secs()
            ),
        }
    }
    Ok(())
}

/// A reason may be any text.
pub async fn reasons(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let long = "x".repeat(2000);
    for reason in ["", "\"}\u{0}\r\n\r\n{", "中 é 😀", &long] {
        let call = cx.working(&connection).await?;
        connection.cancel(&call.id, Some(reason));
        work_stops(cx, &call).await?;
    }
    cx.still_answers(&connection).await
}
