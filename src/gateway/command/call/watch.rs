//! A call from its start to its end, and what an interrupt does to it.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Fuse, FutureExt};
use tokio::time::sleep;

use super::{Display, Failure, Interrupts};
use crate::gateway::agent::{Agent, Confirmation, NewCall, Outcome, Step};

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

/// Makes the call. Returns at its end, at a second interrupt, or when a cancel was refused and the
/// end has not come within `grace`.
pub(super) async fn watch(
    agent: &Agent,
    call: NewCall,
    display: &mut Display,
    interrupts: &mut Interrupts,
    grace: Duration,
) -> End {
    let mut calling = agent.call(call);
    let mut cancelling = pin!(Fuse::terminated());
    let mut patience = pin!(Fuse::terminated());
    let mut interrupted = false;
    let mut confirmation = None;
    loop {
        tokio::select! {
            step = calling.next() => match step {
                Step::Progress(_) if interrupted => {}
                Step::Progress(info) => display.progress(&info),
                Step::Ended(outcome) => {
                    if interrupted && confirmation.is_none() {
                        // Comes soon, whatever the app does.
                        confirmation = tokio::select! {
                            confirmation = &mut cancelling => Some(confirmation),
                            () = interrupts.next() => None,
                        };
                    }
                    return End::Settled(outcome, confirmation);
                }
            },
            () = interrupts.next() => {
                if interrupted {
                    return End::Left(confirmation);
                }
                interrupted = true;
                display.cancelling();
                let cancel = agent.cancel(&calling.call_id, Some(REASON.into()));
                cancelling.set(cancel.fuse());
            }
            answer = &mut cancelling => {
                if !answer.cancelled {
                    patience.set(sleep(grace).fuse());
                }
                confirmation = Some(answer);
            }
            () = &mut patience => return End::Left(confirmation),
        }
    }
}
