//! The stream of a `tasks/result` that waits for the end of its task: the questions of the task, and the answer.
//! A closed stream, and a cancel of the request, leave the task as it is.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;
use tokio::sync::watch;

use super::super::questions;
use super::super::reply::event_bytes;
use super::super::resources::InSession;
use super::super::result::answer;
use super::Task;
use super::task::State;
use super::terms::{RELATED_TASK, related};
use crate::wire::json_rpc::{Id, RpcError, code};

/// A request that waits.
struct Waiting {
    id: Id,
    task: Arc<Task>,
    changes: watch::Receiver<State>,
    within: InSession,
    /// The questions that were sent, and that are not withdrawn.
    sent: HashSet<u64>,
    /// The messages that are not sent yet.
    queue: VecDeque<String>,
    /// The bytes of an event that the client reads, if it has a bound.
    event_bytes: Option<usize>,
}

/// The messages of that request, the last of which is the answer. Questions are among them if `asks`.
pub fn messages(
    id: Id,
    task: Arc<Task>,
    within: InSession,
    asks: bool,
    event_bytes: Option<usize>,
) -> BoxStream<'static, String> {
    let changes = task.changes();
    let over = within.begun.over.clone();
    let waiting = Waiting {
        id,
        task,
        changes,
        within,
        sent: HashSet::new(),
        queue: VecDeque::new(),
        event_bytes,
    };
    let messages = stream::unfold(Some(waiting), move |state| async move {
        let mut waiting = state?;
        let (message, is_last) = waiting.next(asks).await?;
        Some((message, (!is_last).then_some(waiting)))
    });
    messages.take_until(over.cancelled_owned()).boxed()
}

impl Waiting {
    /// The next message, and whether it is the last.
    async fn next(&mut self, asks: bool) -> Option<(String, bool)> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some((message, false));
            }
            self.changes.changed().await.ok()?;
            if asks {
                self.look_at_questions();
            }
            if self.queue.is_empty()
                && let Some(answer) = self.answer()
            {
                // The client may use the id again as soon as it has read the answer.
                self.within.session.over(&self.within.begun);
                return Some((answer, true));
            }
            if !self.queue.is_empty() {
                // The end may have come too.
                self.changes.mark_changed();
            }
        }
    }

    /// Sends the new questions, and withdraws those that need no answer any more.
    fn look_at_questions(&mut self) {
        let open = self.task.open_questions();
        let run = self.task.id;
        let gone = |number: &u64| open.iter().all(|(it, _)| it != number);
        let withdrawn = self.sent.extract_if(gone);
        let withdrawn = withdrawn.map(|number| questions::withdrawn(run, number));
        self.queue.extend(withdrawn);
        for (number, mut form) in open {
            if self.sent.insert(number) {
                form["_meta"][RELATED_TASK] = related(run);
                self.queue.push_back(questions::asked(run, number, &form));
            }
        }
    }

    /// The answer, if the call has ended.
    fn answer(&self) -> Option<String> {
        let end = self.task.end()?;
        let answered = answer(&self.id, end.answer(self.task.id));
        match self.event_bytes {
            Some(most) if event_bytes(&answered) > most => {
                let what = "The result is larger than this client reads in one event. Ask for it again: now that the \
                    call has ended, it comes as one JSON body";
                let error = RpcError::new(code::INTERNAL_ERROR, what);
                Some(answer(&self.id, Err::<Value, _>(error)))
            }
            _ => Some(answered),
        }
    }
}
