//! Cancels that name no call of theirs, and ids that are alike.

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{confirmed, one_answer, settled_once, work_stops};
use crate::broken;
use crate::call::Answer;
use crate::context::{Context, MANY, PATIENCE, SILENCE, STEP};
use crate::finding::{Finding, Verdict};
use crate::peer::{Afterwards, Connection};

/// A cancel of an id that nobody has used.
pub async fn unknown(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    connection.stray();
    let some = connection.call(cx.counting(1, 1));
    let id = if some.id.is_string() {
        json!(uuid::Uuid::new_v4().to_string())
    } else {
        json!(8_000_001)
    };
    let cancel = connection.cancel(&id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    if let Some(confirmation) = confirmation {
        let prescribed = cx.traits().words.map(|words| words.unknown);
        let is_other =
            prescribed.is_some_and(|words| confirmation.reason.as_deref() != Some(words));
        if confirmation.cancelled || is_other {
            broken!(
                "the cancel of a call that does not exist was answered with {}",
                confirmation.words()
            );
        }
    }
    cancel.arrived(SILENCE).await;
    if let Some(stray) = connection.stray().first() {
        broken!("the cancel of an unknown id was answered with {stray}");
    }
    cx.still_answers(&connection).await
}

/// Cancels with parameters that are no cancel's.
pub async fn malformed(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    connection.stray();
    for params in [
        json!({}),
        json!([]),
        json!({ "requestId": null, "id": null }),
        json!({ "requestId": {}, "id": {} }),
        json!({ "requestId": [call.id], "id": [call.id] }),
        json!({ "requestId": true, "id": 1.5 }),
    ] {
        if !connection.cancel_with(params) {
            return Err(Finding::NotRun(
                "such a cancel has an answer of its own here".into(),
            ));
        }
    }
    sleep(SILENCE).await;
    if connection.is_over() {
        broken!("the connection ended");
    }
    if let Some(stray) = connection.stray().first() {
        broken!("a malformed cancel was answered with {stray}");
    }
    if let Some(answer) = call.answers().first() {
        broken!(
            "a call that was not cancelled was answered with {}",
            answer.words()
        );
    }
    let before = cx.steps(&call.key).await?;
    sleep(SILENCE).await;
    if cx.steps(&call.key).await? == before {
        broken!("a malformed cancel stopped a call");
    }
    connection.cancel(&call.id, None);
    cx.still_answers(&connection).await
}

/// Another client's cancel with the same id.
pub async fn foreign(cx: &Context) -> Verdict {
    let (mine, other) = (cx.fresh().await?, cx.second().await?);
    let mut new = cx.counting(60, STEP);
    let id = if mine.call(cx.counting(1, 1)).id.is_string() {
        json!(uuid::Uuid::new_v4().to_string())
    } else {
        json!(9_000_001)
    };
    new.id = Some(id);
    let call = mine.call(new);
    cx.begins(&call).await?;
    let cancel = other.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    let outcome = match call.answer(PATIENCE).await {
        Some(answer) if answer.count() == Some(60) => Ok(()),
        Some(answer) => Err(Finding::Broken(format!(
            "another client cancelled the same id, and the call of 60 steps was answered with {}",
            answer.words()
        ))),
        None => Err(Finding::Broken(format!(
            "another client cancelled the same id, and the call was not answered; {} of 60 steps were counted",
            cx.steps(&call.key).await?
        ))),
    };
    leave([mine, other]).await;
    if let Some(confirmation) = confirmation
        && confirmation.cancelled
    {
        broken!(
            "another client was told of the call: {}",
            confirmation.words()
        );
    }
    outcome
}

/// The ids 1 and "1" are two.
pub async fn types(cx: &Context) -> Verdict {
    let connection = cx.fresh().await?;
    let mut number = cx.counting(MANY, STEP);
    number.id = Some(json!(1));
    let mut text = cx.counting(60, STEP);
    text.id = Some(json!("1"));
    let (number, text) = (connection.call(number), connection.call(text));
    begins_both(cx, [&number, &text]).await?;
    connection.cancel(&json!(1), None);
    let steps = work_stops(cx, &number).await;
    let answer = text.answer(PATIENCE).await;
    leave([connection]).await;
    steps?;
    match answer {
        Some(answer) if answer.count() == Some(60) => Ok(()),
        Some(answer) => Err(Finding::Broken(format!(
            "1 was cancelled, and \"1\" was answered with {}",
            answer.words()
        ))),
        None => Err(Finding::Broken(
            "1 was cancelled, and \"1\" was not answered".into(),
        )),
    }
}

async fn begins_both(cx: &Context, calls: [&crate::call::Call; 2]) -> Verdict {
    for call in calls {
        cx.begins(call).await?;
    }
    Ok(())
}

/// The id 0 is an id.
pub async fn zero(cx: &Context) -> Verdict {
    named(cx, json!(0)).await
}

/// The id "" is an id.
pub async fn empty(cx: &Context) -> Verdict {
    named(cx, json!("")).await
}

async fn named(cx: &Context, id: Value) -> Verdict {
    // Of its own: an id may be used once in a session.
    let connection = cx.fresh().await?;
    let mut new = cx.counting(MANY, STEP);
    new.id = Some(id);
    let call = connection.call(new);
    let verdict = async {
        cx.begins(&call).await?;
        connection.cancel(&call.id, None);
        work_stops(cx, &call).await?;
        settled_once(cx, &call).await
    }
    .await;
    leave([connection]).await;
    verdict
}

/// A second call under the id of one in flight does not disturb the first.
pub async fn duplicate(cx: &Context) -> Verdict {
    let connection = cx.fresh().await?;
    let call = connection.call(cx.counting(40, STEP));
    cx.begins(&call).await?;
    let again = cx.counting(5, 1);
    connection.repeat(&call, again);
    call.counts(40, PATIENCE).await;
    sleep(SILENCE).await;
    let answers = call.answers();
    leave([connection]).await;
    // What becomes of the second is not asked. A result of its own does no harm here.
    if answers
        .iter()
        .filter(|answer| answer.count() == Some(40))
        .count()
        == 1
    {
        return Ok(());
    }
    let words = answers.iter().map(Answer::words).collect::<Vec<_>>();
    Err(Finding::Broken(format!(
        "two calls with one id were answered with: {}",
        if words.is_empty() {
            "nothing".into()
        } else {
            words.join("; ")
        }
    )))
}

/// The same call again, under the id of one in flight, is the repetition of a sender that was not sure.
pub async fn retried(cx: &Context) -> Verdict {
    let connection = cx.fresh().await?;
    let new = cx.counting(40, STEP);
    let call = connection.call(new.clone());
    cx.begins(&call).await?;
    connection.repeat(&call, new);
    let answer = one_answer(cx, &call).await;
    leave([connection]).await;
    match answer? {
        answer if answer.count() == Some(40) => Ok(()),
        answer => Err(Finding::Broken(format!(
            "a call that was sent twice was answered with {}",
            answer.words()
        ))),
    }
}

/// An id may be cancelled and then, in dialects that allow it, be used again.
pub async fn reused(cx: &Context) -> Verdict {
    let connection = cx.fresh().await?;
    let mut new = cx.counting(MANY, STEP);
    new.id = Some(json!(77));
    let call = connection.call(new);
    cx.begins(&call).await?;
    connection.cancel(&call.id, None);
    work_stops(cx, &call).await?;
    if cx.traits().afterwards != Afterwards::Silence {
        one_answer(cx, &call).await?;
    }
    let mut new = cx.counting(3, 1);
    new.id = Some(json!(77));
    let again = connection.call(new);
    let answer = again.answer(PATIENCE).await;
    leave([connection]).await;
    match answer {
        Some(answer) if answer.count() == Some(3) => Ok(()),
        Some(answer) => Err(Finding::Broken(format!(
            "the next call with the id was answered with {}",
            answer.words()
        ))),
        None => Err(Finding::Broken(
            "the next call with the id was not answered".into(),
        )),
    }
}

async fn leave(connections: impl IntoIterator<Item = std::sync::Arc<dyn Connection>>) {
    for connection in connections {
        let _ = connection.end().await;
        connection.cut();
    }
}
