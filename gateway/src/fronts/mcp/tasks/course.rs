//! A task from its beginning until its time to live is over.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::sleep_until;

use super::super::questions;
use super::super::tool::Tool;
use super::end::{End, words};
use super::terms::{RELATED_TASK, related};
use super::{Task, Tasks, Work};
use crate::bounds::QuotaKey;
use crate::gateway::{Outcome, Step};
use crate::wire::json_rpc::notification;
use crate::wire::stops::Grade;

/// The reason of the cancel of a call whose task is over.
const OVER: &str = "The time to live of the task is over";

/// Follows the call of a task to its end, and keeps the end until the time to live is over. A call that has not
/// ended by then is cancelled.
pub async fn run(tasks: Arc<Tasks>, task: Arc<Task>, quota_key: QuotaKey, mut work: Work) {
    let expiry = sleep_until(task.until);
    tokio::pin!(expiry);
    let has_session = work.session.take().is_some();
    let mut is_over = false;
    let outcome = loop {
        let step = tokio::select! {
            biased;
            step = work.call.next() => step,
            () = &mut expiry, if !is_over => {
                is_over = true;
                tasks.forget(task.id);
                work.call.canceller().cancel(Some(OVER.into()));
                continue;
            }
        };
        match step {
            Step::Progress(info) => tell_progress(&task, &mut work.tool, &info),
            Step::Question(number, request) => ask(&task, &work, number, &request),
            Step::Withdrawn(number) => task.withdraw(number),
            Step::Ended(outcome) => break outcome,
        }
    };
    let Work {
        id,
        tool,
        call,
        in_use,
        ..
    } = work;
    if is_over {
        return;
    }
    let grade = match &outcome {
        Outcome::Cancelled { stop, by, .. } => Some((*stop, *by)),
        _ => None,
    };
    let ended = tool.ended(&id, task.id, outcome);
    let ended = ended.map(|result| match has_session {
        true => result.of_task(task.id),
        false => result.complete(),
    });
    let room = (&tasks.bytes, &quota_key);
    task.finish(End::of(ended, grade, room));
    tracing::debug!(task = %task.id, "ended");
    if let Some((stop, by)) = grade {
        let late_end = tokio::select! {
            late_end = call.late_end() => late_end,
            () = &mut expiry => None,
        };
        if late_end.is_some() {
            task.add(words(Grade { stop, by, late_end }));
        }
    }
    drop(in_use);
    sleep_until(task.until).await;
    tasks.forget(task.id);
}

/// Tells the client's session how far the call is.
fn tell_progress(task: &Task, tool: &mut Tool, info: &Value) {
    let Some(session) = task.session() else {
        return;
    };
    let params = tool.progress.as_mut().and_then(|it| it.read(info));
    if let Some(mut params) = params {
        params["_meta"][RELATED_TASK] = related(task.id);
        session.tell(notification("notifications/progress", params).to_string());
    }
}

/// The app asks a question.
fn ask(task: &Task, work: &Work, number: u64, request: &Value) {
    let refused = match questions::form(request) {
        Some(form) if work.takes_questions => return task.ask(number, form),
        Some(_) => "The client takes no questions",
        None => "The client takes forms only",
    };
    work.call.answer(number, &questions::not_asked(refused));
}
