//! Ends of connections and sessions.

use super::work_stops;
use crate::broken;
use crate::context::{Context, MANY, SILENCE, STEP};
use crate::finding::{Finding, Verdict};
use tokio::time::sleep;

/// Losing the connection stops its work.
pub async fn cut_stops(cx: &Context) -> Verdict {
    let connection = cx.second().await?;
    let call = cx.working(&connection).await?;
    connection.cut();
    work_stops(cx, &call).await?;
    Ok(())
}

/// Losing the connection is no cancel: the work goes on.
pub async fn cut_is_no_cancel(cx: &Context) -> Verdict {
    let connection = cx.second().await?;
    let call = cx.working(&connection).await?;
    connection.cut();
    sleep(SILENCE * 2).await;
    let before = cx.steps(&call.key).await?;
    sleep(SILENCE).await;
    if cx.steps(&call.key).await? == before {
        broken!("the response stream was closed, and the work stopped after {before} steps");
    }
    Ok(())
}

/// The end of a session stops its work.
pub async fn end_stops(cx: &Context) -> Verdict {
    let connection = cx.second().await?;
    let call = cx.working(&connection).await?;
    if let Err(why) = connection.end().await {
        connection.cut();
        return Err(Finding::NotOffered(why));
    }
    let stopped = work_stops(cx, &call).await;
    connection.cut();
    stopped?;
    Ok(())
}

/// A program ends when its input has ended, also while a call works.
pub async fn program_ends(cx: &Context) -> Verdict {
    if cx.traits().shared {
        return Err(Finding::NotRun("only for programs".into()));
    }
    let connection = cx.connection().await?;
    // Longer than the suite waits for the end.
    let call = connection.call(cx.counting(3 * MANY, STEP));
    cx.begins(&call).await?;
    let ended = connection.end().await;
    cx.forget().await;
    ended.map_err(|_| {
        Finding::Broken("the program's input had ended, and 10 s later it had not".into())
    })
}
