//! One call of a dialect, from its making to its end.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::agent::{self, AbpError, Agent, Calling, Confirmation};
use crate::broker::runs::{Ending, RunId};
use crate::gateway::Hub;
use caphost::call::{Code, LateEnd, Stop};

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With what it was to return.
    Done {
        /// What the handler returned.
        data: Option<Value>,
        /// `{duration, cached?}`, if the app says.
        metadata: Option<Value>,
    },
    /// It failed.
    Failed(AbpError),
    /// It is cancelled, and that is a fact.
    Cancelled {
        /// The reason that was given, if one was.
        reason: Option<String>,
        /// Through this call's [`Canceller`], and not by an operator, a timeout or the app.
        by_caller: bool,
        /// How far the stop was seen.
        stop: Stop,
    },
}

/// What a call does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It says how far it is: a `ProgressInfo`.
    Progress(Value),
    /// It is over, and nothing follows.
    Ended(Outcome),
}

/// A call being made. Dropped before its end it is cancelled: nobody waits for it any more.
pub struct Call {
    /// The run it is.
    pub id: RunId,
    steps: Steps,
    canceller: Canceller,
    over: bool,
}

enum Steps {
    Calling(Calling),
    /// It never went out.
    Skipped,
}

/// Cancels a call on its caller's behalf.
#[derive(Clone)]
pub struct Canceller {
    hub: Arc<Hub>,
    run: RunId,
    agent: Option<(Agent, Arc<str>)>,
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
        self.hub.cancel_requested(self.run, reason.as_deref());
        let asked = self.agent.as_ref();
        let asked = asked.map(|(agent, call_id)| agent.cancel(call_id, reason));
        async move {
            match asked {
                Some(confirmation) => confirmation.await,
                None => Confirmation::cancelled(Stop::NeverStarted, None),
            }
        }
    }
}

impl Call {
    pub(super) fn made(hub: Arc<Hub>, id: RunId, agent: Agent, calling: Calling) -> Self {
        let call_id = calling.call_id.as_str().into();
        Call {
            id,
            steps: Steps::Calling(calling),
            canceller: Canceller {
                hub,
                run: id,
                agent: Some((agent, call_id)),
                asked: Arc::default(),
            },
            over: false,
        }
    }

    /// A call whose run was cancelled before it came.
    pub(super) fn skipped(hub: Arc<Hub>, id: RunId) -> Self {
        Call {
            id,
            steps: Steps::Skipped,
            canceller: Canceller {
                hub,
                run: id,
                agent: None,
                asked: Arc::default(),
            },
            over: false,
        }
    }

    /// What it does next. Safe to drop and to call again.
    pub async fn next(&mut self) -> Step {
        let step = match &mut self.steps {
            Steps::Calling(calling) => calling.next().await,
            Steps::Skipped => agent::Step::Ended(agent::Outcome::Cancelled(Stop::NeverStarted)),
        };
        match step {
            agent::Step::Progress(info) => Step::Progress(info),
            agent::Step::Ended(outcome) => {
                self.over = true;
                Step::Ended(self.ended(outcome))
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

    /// Its id on the app's side, if it was sent there.
    pub fn call_id(&self) -> Option<&str> {
        match &self.steps {
            Steps::Calling(calling) => Some(&calling.call_id),
            Steps::Skipped => None,
        }
    }

    /// What cancels it.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// How the handler of a call that has ended as abandoned ends after all; nothing if that is not
    /// heard of as long as the session lasts, which this does not keep.
    pub fn late_end(mut self) -> impl Future<Output = Option<LateEnd>> + Send + use<> {
        let steps = std::mem::replace(&mut self.steps, Steps::Skipped);
        let calling = match steps {
            Steps::Calling(calling) if self.over => Some(calling),
            _ => None,
        };
        async move { calling?.late_end().await }
    }

    fn ended(&self, outcome: agent::Outcome) -> Outcome {
        let Canceller {
            hub, run, asked, ..
        } = &self.canceller;
        hub.run_ended(*run, ending_of(&outcome));
        match outcome {
            agent::Outcome::Done { data, metadata } => Outcome::Done { data, metadata },
            agent::Outcome::Failed(error) => Outcome::Failed(error),
            agent::Outcome::Cancelled(stop) => Outcome::Cancelled {
                reason: hub.cancel_reason(*run),
                by_caller: asked.load(Ordering::Relaxed),
                stop,
            },
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let confirmed = self
            .canceller
            .cancel(Some("The caller has gone away".into()));
        let (hub, run) = (self.canceller.hub.clone(), self.id);
        let steps = std::mem::replace(&mut self.steps, Steps::Skipped);
        // The run's end is still to be seen, by nobody but the ledger.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = confirmed.await;
                if let Steps::Calling(calling) = steps {
                    hub.run_ended(run, ending_of(&calling.outcome().await));
                }
            });
        }
    }
}

fn ending_of(outcome: &agent::Outcome) -> Ending {
    match outcome {
        agent::Outcome::Done { .. } => Ending::Completed,
        agent::Outcome::Cancelled(stop) => Ending::Cancelled(*stop),
        agent::Outcome::Failed(error) if Code::leaves_open(&error.code) => {
            Ending::Unknown(error.code.clone())
        }
        agent::Outcome::Failed(error) => Ending::Failed(error.code.clone()),
    }
}
