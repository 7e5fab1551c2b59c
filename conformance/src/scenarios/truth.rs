//! What is said of a stop, beside what happened.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{confirmed, one_answer};
use crate::broken;
use crate::call::Answer;
use crate::context::{Context, PATIENCE, SILENCE, STEP};
use crate::finding::{Finding, Verdict};

/// The steps of work that does not listen: nine seconds would be `MANY`, this is a second.
const DEAF: u64 = 100;

/// Work that does not listen is not said to have stopped, and its late end is told.
pub async fn deaf(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let mut new = cx.counting(DEAF, STEP);
    new.arguments["deaf"] = json!(true);
    let call = connection.call(new);
    cx.begins(&call).await?;
    let cancel = connection.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await?;
    let answer = one_answer(cx, &call).await?;
    let before = cx.steps(&call.key).await?;
    sleep(SILENCE).await;
    let goes_on = cx.steps(&call.key).await? > before;
    match &answer {
        Answer::Completed(_) if confirmation.as_ref().is_none_or(|it| !it.cancelled) => {
            return Ok(());
        }
        Answer::Cancelled { .. } if !goes_on && before < DEAF => {
            return Err(Finding::NotOffered(
                "the tool listens to cancels also with `deaf: true`".into(),
            ));
        }
        Answer::Cancelled { stop } if stop.as_deref() == Some("abandoned") => {}
        Answer::Cancelled { stop: None } => {
            return Err(Finding::NotOffered(
                "the answers do not say how far the work has stopped".into(),
            ));
        }
        answer => broken!(
            "the work went on, and the call was answered with {}",
            answer.words()
        ),
    }
    if let Some(confirmation) = confirmation
        && confirmation.stop.as_deref() != Some("abandoned")
    {
        broken!(
            "the work went on, and the cancel was answered with {}",
            confirmation.words()
        );
    }
    if !call.late_end(PATIENCE).await {
        broken!("the work ended after its call was said to be abandoned, and nobody was told");
    }
    sleep(Duration::from_millis(6 * STEP)).await;
    match cx.steps(&call.key).await? {
        DEAF => Ok(()),
        steps => Err(Finding::Broken(format!(
            "the work was said to have ended, after {steps} of {DEAF} steps"
        ))),
    }
}

/// Without a session nothing is called and nothing cancelled.
pub async fn without_session(cx: &Context) -> Verdict {
    let Some(opening) = cx.peer.without_session() else {
        return Err(Finding::NotOffered("no sessions".into()));
    };
    let connection = opening.await.map_err(Finding::NotRun)?;
    let call = connection.call(cx.counting(3, 1));
    let cancel = connection.cancel(&call.id, None);
    let confirmation = confirmed(cx, &cancel).await;
    let answer = call.answer(PATIENCE).await;
    connection.cut();
    match answer {
        Some(Answer::Failed { code, .. }) if code == "NOT_INITIALIZED" => {}
        Some(answer) => broken!(
            "a call without a session was answered with {}",
            answer.words()
        ),
        None => broken!("a call without a session was not answered"),
    }
    match confirmation? {
        Some(it) if it.cancelled || it.error.as_deref() != Some("NOT_INITIALIZED") => {
            Err(Finding::Broken(format!(
                "a cancel without a session was answered with {}",
                it.words()
            )))
        }
        _ => Ok(()),
    }
}
