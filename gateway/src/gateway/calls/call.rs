//! One call, from its making to its end.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

use super::page::Page;
use super::steps::{Steps, steps};
use crate::broker::runs::RunId;
use crate::broker::{self, Ended, Event};
use crate::gateway::{AbpError, Confirmation, Hub, Outcome, Step};
use caphost::call::{CallId, LateEnd, Stop};

/// A call being made. Dropped before its end it is cancelled: nobody waits for it any more.
#[derive(Debug)]
pub struct Call {
    /// The run it is.
    pub id: RunId,
    canceller: Canceller,
    steps: Steps,
    end: End,
}

/// How far a call is for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Awaited,
    Told,
    /// It was told, and the end of its handler may still be heard of.
    Abandoned,
}

/// Cancels a call on its caller's behalf.
#[derive(Clone, Debug)]
pub struct Canceller {
    page: Arc<Page>,
    run: RunId,
    call: CallId,
    asked: Arc<AtomicBool>,
}

impl Canceller {
    /// Asks the app to cancel. The cancel is on its way when this returns, and the future, which
    /// need not be awaited, tells what came of it.
    pub fn cancel(
        &self,
        reason: Option<String>,
    ) -> impl Future<Output = Confirmation> + Send + use<> {
        self.asked.store(true, Ordering::Relaxed);
        let (confirm, confirmed) = oneshot::channel();
        let Page { hub, peer, .. } = &*self.page;
        let cancel = hub.next_number();
        let event = Event::Cancel {
            session: *peer,
            run: self.run,
            call: self.call.clone(),
            cancel,
            reason,
        };
        hub.handle_with(event, |state| drop(state.cancels.insert(cancel, confirm)));
        async move {
            match confirmed.await {
                Ok(outcome) => Confirmation::from(outcome),
                Err(_) => Confirmation::failed(AbpError::disconnected()),
            }
        }
    }
}

impl Call {
    /// Makes a call.
    pub(super) fn make(page: Arc<Page>, call: broker::NewCall) -> Self {
        let (sink, steps) = steps();
        let (run, id) = (call.run.id, call.id.clone());
        let event = Event::Call {
            session: page.peer,
            client: &page.client,
            call: Box::new(call),
        };
        page.hub
            .handle_with(event, |state| drop(state.sinks.insert(run, sink)));
        Call {
            id: run,
            canceller: Canceller {
                page,
                run,
                call: id,
                asked: Arc::default(),
            },
            steps,
            end: End::Awaited,
        }
    }

    /// What it does next. Safe to drop and to call again.
    pub async fn next(&mut self) -> Step {
        // After its end: that it ended disconnected, again and again.
        if !matches!(self.end, End::Awaited) {
            return Step::Ended(Outcome::Failed(AbpError::disconnected()));
        }
        loop {
            match self.steps.next().await {
                // What every reader can read was let in, so this can be read.
                Some(broker::Step::Progress(info)) => {
                    return Step::Progress(info.value().unwrap_or_default());
                }
                Some(broker::Step::Ended(ended)) => return Step::Ended(self.ended(ended)),
                Some(broker::Step::Late(_)) => {}
                None => return Step::Ended(Outcome::Failed(AbpError::disconnected())),
            }
        }
    }

    /// How it ends.
    pub async fn outcome(mut self) -> Outcome {
        loop {
            if let Step::Ended(outcome) = self.next().await {
                return outcome;
            }
        }
    }

    /// Its id on the app's side.
    pub fn call_id(&self) -> &str {
        self.canceller.call.as_str()
    }

    /// What cancels it.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// How the handler of a call that has ended as abandoned ends after all; nothing if that is not
    /// heard of as long as the session lasts, which this does not keep.
    pub fn late_end(mut self) -> impl Future<Output = Option<LateEnd>> + Send + use<> {
        let wanted = self.end == End::Abandoned;
        self.end = End::Told;
        let steps = self.steps.clone();
        drop(self);
        async move {
            match steps.next().await {
                Some(broker::Step::Late(ended)) if wanted => Some(ended),
                _ => None,
            }
        }
    }

    fn ended(&mut self, ended: Ended) -> Outcome {
        let outcome = match ended {
            Ended::Response(response) => Outcome::read(&response),
            Ended::Failed(error) => Outcome::Failed(AbpError::from(&error)),
            Ended::Cancelled { stop, by, reason } => Outcome::Cancelled {
                reason,
                by_caller: self.canceller.asked.load(Ordering::Relaxed),
                stop,
                by,
            },
        };
        self.end = match outcome {
            Outcome::Cancelled {
                stop: Stop::Abandoned,
                ..
            } => End::Abandoned,
            _ => End::Told,
        };
        outcome
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.end == End::Awaited {
            let reason = "The caller has gone away";
            drop(self.canceller.cancel(Some(reason.into())));
        }
        if self.end != End::Told {
            self.canceller.page.hub.unheard(self.id);
        }
    }
}

impl Hub {
    /// Nobody listens to a call any more.
    fn unheard(&self, run: RunId) {
        // Dropped when nothing is locked any more.
        let sink = self.state().sinks.remove(&run);
        drop(sink);
    }
}
