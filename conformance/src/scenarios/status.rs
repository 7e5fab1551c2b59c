//! What a peer says of a call when it is asked for its status.

use serde_json::Value;

use super::{confirmed, one_answer, settled, work_stops};
use crate::broken;
use crate::context::Context;
use crate::finding::{Finding, Verdict};
use crate::peer::Connection;

/// Of a call that works the status says that it is not cancelled, and afterwards that it is.
pub async fn cancelled(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = cx.working(&connection).await?;
    let before = of(&*connection, &call.id).await?;
    if before["cancelled"] != false {
        broken!("of a call that works the status was {before}");
    }
    let cancel = connection.cancel(&call.id, Some("an operator's reason"));
    confirmed(cx, &cancel).await?;
    settled(cx, &call).await?;
    work_stops(cx, &call).await?;
    let after = of(&*connection, &call.id).await?;
    if after["cancelled"] != true {
        broken!("of a cancelled call the status was {after}");
    }
    if after["cancel_reason"] != "an operator's reason" {
        broken!("the status has another reason: {after}");
    }
    Ok(())
}

/// Of a call that has completed the status never says that it is cancelled.
pub async fn completed(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    let call = connection.call(cx.counting(3, 1));
    one_answer(cx, &call).await?;
    let cancel = connection.cancel(&call.id, None);
    confirmed(cx, &cancel).await?;
    match ask(&*connection, &call.id).await? {
        (404, _) => Ok(()),
        (200, body) if body["cancelled"] == false => Ok(()),
        (status, body) => Err(Finding::Broken(format!(
            "of a call that has completed the status was {status} {body}"
        ))),
    }
}

/// Of an unknown id there is no status.
pub async fn unknown(cx: &Context) -> Verdict {
    let connection = cx.connection().await?;
    match ask(&*connection, &Value::from(uuid::Uuid::new_v4().to_string())).await? {
        (404, _) => Ok(()),
        (status, body) => Err(Finding::Broken(format!(
            "of an unknown id the status was {status} {body}"
        ))),
    }
}

async fn of(connection: &dyn Connection, id: &Value) -> Result<Value, Finding> {
    match ask(connection, id).await? {
        (200, body) => Ok(body),
        (status, body) => Err(Finding::Broken(format!(
            "of a call in flight the status was {status} {body}"
        ))),
    }
}

async fn ask(connection: &dyn Connection, id: &Value) -> Result<(u16, Value), Finding> {
    match connection.status(id) {
        Some(asked) => asked.await.map_err(Finding::NotRun),
        None => Err(Finding::NotOffered("no status".into())),
    }
}
