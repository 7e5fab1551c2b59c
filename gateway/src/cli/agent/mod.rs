//! The agent that the command line is: the sans-IO [`AgentState`](caphost::agent::AgentState) with a
//! task around it that keeps the time.
//!
//! It knows no transport: whoever starts one gives it a function that sends a text frame and feeds
//! what arrives into the [`Inlet`].

mod actor;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use crate::gateway::calls::NewCall;
use crate::gateway::{AbpError, Confirmation, Outcome, Step};
use actor::{Actor, Command};
use caphost::call::CallId;

/// Who an agent says it is.
#[derive(Clone, Debug)]
pub struct Hello {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// How long an agent waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the answer to `initialize`, 10 s.
    pub initialize: Duration,
    /// For the confirmation of a cancel, and for a response past its timeout, 5 s.
    pub grace: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            initialize: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

/// An agent. Clones share it; when the last is dropped its session ends, and with it what it has in
/// flight.
#[derive(Clone, Debug)]
pub struct Agent {
    commands: mpsc::UnboundedSender<Command>,
    session: watch::Receiver<Option<Result<Arc<Value>, AbpError>>>,
}

/// Where what arrives is fed in. Dropping it says that the transport is gone.
#[derive(Debug)]
pub struct Inlet(mpsc::UnboundedSender<String>);

impl Inlet {
    /// A text frame has arrived. `false` when the agent is over.
    pub fn receive(&self, text: String) -> bool {
        self.0.send(text).is_ok()
    }

    /// Waits until the agent is over and the transport can be let go.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// A call being made.
#[derive(Debug)]
pub struct Calling {
    /// Its callId.
    pub call_id: String,
    steps: mpsc::UnboundedReceiver<Step>,
}

impl Calling {
    /// What it does next. After its end: that it ended disconnected, again and again.
    pub async fn next(&mut self) -> Step {
        let step = self.steps.recv().await;
        step.unwrap_or_else(|| Step::Ended(Outcome::Failed(AbpError::disconnected())))
    }

    /// How it ends.
    #[cfg(test)]
    pub async fn outcome(mut self) -> Outcome {
        loop {
            if let Step::Ended(outcome) = self.next().await {
                return outcome;
            }
        }
    }
}

impl Agent {
    /// Starts an agent that says hello at once, and takes no questions; of notifications it heeds
    /// that abandoned calls have ended.
    /// `send` must not wait.
    pub fn start(
        hello: &Hello,
        patience: Patience,
        send: impl FnMut(String) + Send + 'static,
    ) -> (Agent, Inlet) {
        let (commands, from_callers) = mpsc::unbounded_channel();
        let (inlet, from_app) = mpsc::unbounded_channel();
        let (said, session) = watch::channel(None);
        let actor = Actor::new(patience, Box::new(send), said);
        tokio::spawn(actor.run(hello.clone(), from_callers, from_app));
        (Agent { commands, session }, Inlet(inlet))
    }

    /// Makes a call. Whatever is wrong with it comes as its outcome.
    pub fn call(&self, call: NewCall) -> Calling {
        let (steps, received) = mpsc::unbounded_channel();
        let id = call.call_id.clone().unwrap_or_else(CallId::random);
        let call_id = id.as_str().to_string();
        // If the agent is over the sender is dropped, and the call ends disconnected.
        let _ = self.commands.send(Command::Call(id, call, steps));
        Calling {
            call_id,
            steps: received,
        }
    }

    /// Cancels a call, and awaits the confirmation, which always comes. The cancel is on its way
    /// when this returns, whether or not the future is awaited.
    pub fn cancel(
        &self,
        call_id: &str,
        reason: Option<String>,
    ) -> impl Future<Output = Confirmation> + Send + use<> {
        let (confirm, confirmed) = oneshot::channel();
        let sent = match CallId::parse(call_id) {
            Ok(id) => self
                .commands
                .send(Command::Cancel(id, reason, confirm))
                .is_ok(),
            Err(_) => false,
        };
        async move {
            match confirmed.await {
                Ok(confirmation) if sent => confirmation,
                _ => Confirmation::failed(AbpError::disconnected()),
            }
        }
    }

    /// Waits for the session: the result of `initialize`, or why there is none.
    pub async fn session(&self) -> Result<Arc<Value>, AbpError> {
        let mut session = self.session.clone();
        match session.wait_for(Option::is_some).await {
            Ok(said) => said
                .clone()
                .unwrap_or_else(|| Err(AbpError::disconnected())),
            Err(_) => Err(AbpError::disconnected()),
        }
    }

    /// Ends the session, and waits until it is over.
    pub async fn shutdown(&self, reason: Option<String>) {
        let _ = self.commands.send(Command::Shutdown(reason));
        self.commands.closed().await;
    }

    /// Whether it is over: nothing can be called any more.
    #[cfg(test)]
    pub fn is_over(&self) -> bool {
        self.commands.is_closed()
    }
}
