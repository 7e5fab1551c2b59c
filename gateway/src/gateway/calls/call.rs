//! One call, from its start to its end.

use std::sync::Arc;

use futures_util::FutureExt;

use super::asked::Lent;
use super::way::Way;
use crate::broker::calls::{Run, RunId, RunState};
use crate::broker::{self, Asker, Event, Outcome, Steps};
use caphost::call::{LateEnd, Stop};
use serde_json::Value;

/// The next step of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The call reports progress: a `ProgressInfo`.
    Progress(Value),
    /// The app asks a question: its number, and the request. Only a client that takes questions gets these.
    Question(u64, Value),
    /// The question with that number needs no answer any more.
    Withdrawn(u64),
    /// The call is over, and no step follows. The result has no line breaks.
    Ended(Outcome),
}

/// A call in flight. Dropping the call before its end cancels it, because nobody waits for it any more.
#[derive(Debug)]
pub struct Call {
    /// The run of this call.
    pub id: RunId,
    call_id: Arc<str>,
    canceller: Canceller,
    /// The connection of this call alone, if its client takes questions.
    lent: Option<Lent>,
    steps: Steps,
    end: End,
}

/// How much of a call's end its caller has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Awaited,
    Told,
    /// The caller was told the end, and may still hear how the handler ends.
    Abandoned,
}

/// Cancels a call on its caller's behalf.
#[derive(Clone, Debug)]
pub struct Canceller {
    way: Arc<Way>,
    run: RunId,
}

impl Canceller {
    /// Asks the app to cancel. The request is on its way when this function returns. The outcome of the call
    /// tells whether the cancel succeeded.
    pub fn cancel(&self, reason: Option<String>) {
        let run = self.run;
        let asker = Asker::Caller;
        self.way.hub.handle(Event::Cancel { run, asker, reason });
    }
}

impl Call {
    /// Makes a call, whose steps come out of `steps`.
    pub(super) fn make(
        way: Arc<Way>,
        lent: Option<Lent>,
        call: broker::NewCall<'static>,
        steps: Steps,
    ) -> Self {
        let (run, call_id) = (call.run, call.call_id.clone());
        way.hub.handle(Event::Call {
            session: way.peer,
            client: &way.client,
            call: Box::new(call),
        });
        Call {
            id: run,
            call_id,
            canceller: Canceller { way, run },
            lent,
            steps,
            end: End::Awaited,
        }
    }

    /// The next step of the call. The returned future may be dropped, and the function may be called again.
    pub async fn next(&mut self) -> Step {
        // After its end, the call reports again and again that it ended disconnected.
        if !matches!(self.end, End::Awaited) {
            return Step::Ended(Outcome::disconnected());
        }
        loop {
            match self.steps.next().await {
                // The gateway has accepted only progress that every reader can read, so this progress can be
                // read.
                Some(broker::CallEvent::Progress(info)) => {
                    return Step::Progress(info.value().unwrap_or_default());
                }
                Some(broker::CallEvent::Question(number, request)) => {
                    return Step::Question(number, request.value().unwrap_or_default());
                }
                Some(broker::CallEvent::Withdrawn(number)) => return Step::Withdrawn(number),
                Some(broker::CallEvent::Ended(run, outcome)) => {
                    return Step::Ended(self.ended(&run, outcome));
                }
                Some(broker::CallEvent::Late(_)) => {}
                None => {
                    self.end = End::Told;
                    return Step::Ended(Outcome::disconnected());
                }
            }
        }
    }

    /// How the call ends.
    pub async fn outcome(mut self) -> Outcome {
        loop {
            if let Step::Ended(outcome) = self.next().await {
                return outcome;
            }
        }
    }

    /// Answers the question with that number. `payload` is that of an `elicitation/response`.
    pub fn answer(&self, question: u64, payload: &str) {
        self.canceller.way.hub.handle(Event::Answer {
            run: self.id,
            question,
            payload,
        });
    }

    /// The questions that were not answered, of a call whose caller does not wait for its end any more. Steps
    /// that have come are lost.
    pub fn open_questions(&mut self) -> Vec<u64> {
        let mut open = self.canceller.way.hub.questions_of(self.id);
        while let Some(step) = self.next().now_or_never() {
            match step {
                Step::Withdrawn(number) => open.push(number),
                Step::Ended(_) => break,
                Step::Progress(_) | Step::Question(..) => {}
            }
        }
        open
    }

    /// The id of the call on the app's side.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The handle that cancels the call.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Whether the call has ended as abandoned.
    pub fn is_abandoned(&self) -> bool {
        self.end == End::Abandoned
    }

    /// How the handler ends in the end, if the call ends as abandoned. `None` otherwise, and if the gateway does
    /// not hear of that before the session ends. After the end of the call the future does not keep the session
    /// alive.
    pub async fn late_end(mut self) -> Option<LateEnd> {
        while self.end == End::Awaited {
            self.next().await;
        }
        if self.end == End::Told {
            return None;
        }
        let steps = self.steps.clone();
        drop(self);
        match steps.next().await {
            Some(broker::CallEvent::Late(ended)) => Some(ended),
            _ => None,
        }
    }

    fn ended(&mut self, run: &Run, outcome: Outcome) -> Outcome {
        self.end = match run.stop() {
            Some(Stop::Abandoned) => End::Abandoned,
            _ => End::Told,
        };
        if let Some(lent) = self.lent.take()
            && matches!(run.state, RunState::Completed | RunState::Failed)
        {
            lent.give_back();
        }
        outcome.in_one_line()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.end == End::Awaited {
            let reason = "The caller has gone away";
            self.canceller.cancel(Some(reason.into()));
        }
    }
}
