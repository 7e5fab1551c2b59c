//! A call from its start to its end, and what an interrupt does to it.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Fuse, FutureExt};
use tokio::time::sleep;

use super::{Display, Failure, Signals};
use crate::cli::agent::{Agent, Calling};
use crate::gateway::calls::NewCall;
use crate::gateway::{Confirmation, Outcome, Step};

/// Why the call is cancelled, for the app.
const REASON: &str = "Interrupted at the command line";

/// How it ended for the person who made the call.
pub(super) enum End {
    /// Interrupted before anything was sent.
    NeverMade,
    /// No call could be made.
    Failed(Failure),
    /// The call has ended. With a confirmation, if it was asked for one.
    Settled(Outcome, Option<Confirmation>),
    /// Nobody waits for the end any longer.
    Left(Option<Confirmation>),
}

/// Makes the call. Returns at its end, or when an interrupt has cut it short.
pub(super) async fn watch(
    agent: &Agent,
    call: NewCall,
    display: &mut Display,
    signals: &mut Signals,
    grace: Duration,
) -> End {
    let mut calling = agent.call(call);
    loop {
        tokio::select! {
            step = calling.next() => match step {
                Step::Progress(info) => display.progress(&info),
                Step::Ended(outcome) => return End::Settled(outcome, None),
            },
            () = signals.first() => break,
        }
    }
    display.cancelling();
    let cancel = agent.cancel(&calling.call_id, Some(REASON.into()));
    interrupted(calling, cancel, signals, grace).await
}

/// Waits for the confirmation and for the end; for the latter no longer than `grace` when the
/// cancel was refused, and for nothing after a second interrupt.
async fn interrupted(
    mut calling: Calling,
    cancel: impl Future<Output = Confirmation>,
    signals: &mut Signals,
    grace: Duration,
) -> End {
    let mut cancel = pin!(cancel.fuse());
    let mut second = pin!(signals.second());
    let mut patience = pin!(Fuse::terminated());
    let mut confirmation = None;
    loop {
        tokio::select! {
            step = calling.next() => if let Step::Ended(outcome) = step {
                if confirmation.is_none() {
                    // Comes within the grace, whatever the app does.
                    confirmation = tokio::select! {
                        confirmation = &mut cancel => Some(confirmation),
                        () = &mut second => None,
                    };
                }
                return End::Settled(outcome, confirmation);
            },
            answer = &mut cancel => {
                if !answer.cancelled {
                    patience.set(sleep(grace).fuse());
                }
                confirmation = Some(answer);
            }
            () = &mut second => return End::Left(confirmation),
            () = &mut patience => return End::Left(confirmation),
        }
    }
}
