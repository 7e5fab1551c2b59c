//! What is done to a peer, and what must be seen. The scenarios know no dialect, only its [traits](crate::peer::Traits).

use tokio::time::sleep;

use crate::broken;
use crate::call::{Answer, Call, Cancel, Confirmation};
use crate::context::{Context, MANY, PATIENCE, SILENCE, STEP};
use crate::finding::{Finding, Verdict};
use crate::peer::Afterwards;

pub mod endings;
pub mod ids;
pub mod races;
pub mod running;
pub mod status;
pub mod timing;
pub mod truth;

/// Broken unless `call`, cancelled while it worked, was answered as its dialect wants it.
async fn settled(cx: &Context, call: &Call) -> Verdict {
    match cx.traits().afterwards {
        Afterwards::Silence => {
            sleep(SILENCE).await;
            match call.answers().first() {
                Some(answer) => Err(Finding::Broken(format!(
                    "the cancelled request was answered with {}",
                    answer.words()
                ))),
                None => Ok(()),
            }
        }
        Afterwards::OneAnswer => match one_answer(cx, call).await? {
            Answer::Cancelled { .. } => Ok(()),
            answer => Err(Finding::Broken(format!(
                "the cancelled call was answered with {}",
                answer.words()
            ))),
        },
        Afterwards::AnyAnswer => match one_answer(cx, call).await? {
            Answer::Completed(value) if value.get("count").is_some() => Err(Finding::Broken(
                format!("the cancelled call was answered with the result {value}"),
            )),
            _ => Ok(()),
        },
    }
}

/// As [`settled`], but where the dialect wants silence one answer does no harm: another requirement is about that.
async fn settled_once(cx: &Context, call: &Call) -> Verdict {
    if cx.traits().afterwards != Afterwards::Silence {
        return settled(cx, call).await;
    }
    sleep(SILENCE).await;
    match call.answers().as_slice() {
        [first, second, ..] => Err(Finding::Broken(format!(
            "the cancelled request was answered twice: with {}, then with {}",
            first.words(),
            second.words()
        ))),
        _ => Ok(()),
    }
}

/// The answer of a call. Broken if there is none, or a second.
async fn one_answer(cx: &Context, call: &Call) -> Result<Answer, Finding> {
    let Some(answer) = call.answer(PATIENCE.max(cx.grace)).await else {
        if call.is_closed() {
            broken!("the connection ended, and the call was not answered");
        }
        broken!("the call was not answered within {} s", PATIENCE.as_secs());
    };
    sleep(SILENCE).await;
    let answers = call.answers();
    match answers.as_slice() {
        [_] => Ok(answer),
        [first, second, ..] => Err(Finding::Broken(format!(
            "the call was answered {} times: with {}, then with {}",
            answers.len(),
            first.words(),
            second.words()
        ))),
        [] => unreachable!("answers are not taken back"),
    }
}

/// What the peer says of `cancel`. `None` in dialects that do not confirm.
async fn confirmed(cx: &Context, cancel: &Cancel) -> Result<Option<Confirmation>, Finding> {
    if !cx.traits().confirms {
        return Ok(None);
    }
    match cancel.confirmation(PATIENCE).await {
        Some(confirmation) => Ok(Some(confirmation)),
        None => Err(Finding::Broken(format!(
            "the cancel was not answered within {} s",
            PATIENCE.as_secs()
        ))),
    }
}

/// Waits until the work of a call that [`Context::working`] has started stands still.
async fn work_stops(cx: &Context, call: &Call) -> Result<u64, Finding> {
    cx.stops(&call.key, MANY, STEP).await
}
